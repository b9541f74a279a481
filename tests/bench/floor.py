"""What no learner can go below: reading a file; reading and parsing it and throwing the batches away. One thread.

    python floor.py read FILE
    python floor.py parse FILE
"""

import os
import sys

SIZE = 1 << 20


def read(path: str) -> None:
    buffer = bytearray(SIZE)
    file = os.open(path, os.O_RDONLY)
    while os.readv(file, [buffer]):
        pass
    os.close(file)


def parse(path: str) -> None:
    from vwlite.core.data.batch import Batch
    from vwlite.core.text.parser import Parser, detect
    from vwlite.input.reader import Block, read_blocks

    parser, batch = None, Batch()
    for block in read_blocks([path]):
        assert isinstance(block, Block)
        parser = parser or Parser(detect(block.data))
        if parser.parse(block.data, batch):
            sys.exit(f"{path}: a bad line")
        block.release()


if __name__ == "__main__":
    {"read": read, "parse": parse}[sys.argv[1]](sys.argv[2])
