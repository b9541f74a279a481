"""`vwlite dask` on a server that speaks the protocol of S3: moto's, in this process."""

from pathlib import Path

import pytest

pytest.importorskip("distributed", reason="the front on Dask is an extra")
pytest.importorskip("s3fs")
pytest.importorskip("moto.server")
pytest.importorskip("pyarrow")

import boto3
import moto.server
import pyarrow.csv
import pyarrow.parquet
import s3fs
from drawn_tables import HEADER, SAMPLE, digest, table

from vwlite.dask import default

AT = ("--scheduler", "local:2", "--quiet")


@pytest.fixture
def bucket(tmp_path, monkeypatch):
    """The same files in a bucket and in this folder; the client of the bucket."""
    server = moto.server.ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://{host}:{port}")
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_DEFAULT_REGION"):
        monkeypatch.setenv(name, "us-east-1")
    s3fs.S3FileSystem.clear_instance_cache()  # of the server of another test
    monkeypatch.chdir(tmp_path)
    client = boto3.client("s3")
    client.create_bucket(Bucket="logs")
    for i in range(3):
        Path(f"t{i}.csv").write_text(HEADER + "".join(table(i)))
        pyarrow.parquet.write_table(pyarrow.csv.read_csv(f"t{i}.csv"), f"t{i}.parquet", row_group_size=150)
    for path in tmp_path.iterdir():
        client.upload_file(str(path), "logs", f"day={path.name[1]}/{path.name}")
    yield client
    server.stop()


@pytest.mark.long
@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_files_in_a_bucket_give_the_bytes_of_those_on_a_disk(vwlite, bucket, monkeypatch, kind):
    """Of few rows, and of more than a sample has. Predictions are written into the bucket."""
    url = f"s3://logs/day=*/*.{kind}"
    for most in (default.MOST_ROWS, SAMPLE):
        monkeypatch.setattr(default, "MOST_ROWS", most)
        vwlite("dask", "train", url, *AT, "--label", "y", "-m", "m")
        vwlite("dask", "train", f"t*.{kind}", *AT, "--label", "y", "-m", "here")
        assert digest("m") == digest("here")
    vwlite("dask", "predict", url, *AT, "-m", "m", "-o", "s3://logs/out")
    vwlite("predict", "-m", "m", f"t1.{kind}", "-p", "p", "--quiet")
    found = bucket.get_object(Bucket="logs", Key=f"out/day=1/t1.{kind}.predictions")["Body"].read()
    assert found == Path("p").read_bytes()


@pytest.mark.long
def test_a_bucket_that_is_not_there(vwlite, bucket):
    said = vwlite("dask", "train", "s3://nothing/x.csv", *AT, "--label", "y", "-m", "m", code=66).err
    assert said == "s3://nothing/x.csv: No such file or directory\n"
