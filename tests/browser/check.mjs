// Opens each page that is named, narrow and wide, light and dark: it must load nothing else, report no error, fit its
// width and have no fault that axe-core finds. Screenshots are saved beside the pages.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"],
});
let faults = 0;

function fault(where, what) {
  faults += 1;
  console.error(`${where}: ${what}`);
}

for (const path of process.argv.slice(2)) {
  for (const width of [400, 1400]) {
    for (const colorScheme of ["light", "dark"]) {
      const where = `${path}, ${width} pixels, ${colorScheme}`;
      const context = await browser.newContext({ viewport: { width, height: 900 }, colorScheme });
      const page = await context.newPage();
      const url = pathToFileURL(resolve(path)).href;
      page.on("request", (request) => request.url() === url || fault(where, `loads ${request.url()}`));
      page.on("console", (message) => fault(where, message.text()));
      page.on("pageerror", (error) => fault(where, error.message));
      page.on("dialog", async (dialog) => {
        fault(where, `runs a script: ${dialog.message()}`);
        await dialog.dismiss();
      });
      await page.goto(url);
      const [wide, charts, scripts] = await page.evaluate(() => [
        document.documentElement.scrollWidth,
        document.querySelectorAll("svg, .bars").length,
        document.querySelectorAll("script, img, iframe, link").length,
      ]);
      if (wide > width) fault(where, `is ${wide} pixels wide`);
      if (charts === 0) fault(where, "has no chart");
      if (scripts !== 0) fault(where, "has an element that loads or runs something");
      await page.evaluate(axe);
      const { violations } = await page.evaluate(() => window.axe.run());
      for (const v of violations) fault(where, `${v.id}: ${v.help}: ${v.nodes[0].html.slice(0, 200)}`);
      await page.screenshot({ path: path.replace(/\.html$/, `.${width}.${colorScheme}.png`), fullPage: true });
      await context.close();
    }
  }
}
await browser.close();
console.log(`${process.argv.length - 2} pages in 4 views: ${faults} faults`);
process.exit(faults === 0 && process.argv.length > 2 ? 0 : 1);
