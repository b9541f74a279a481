"""Sockets that listen."""

import errno
import os
import socket

from vwlite.errors import BusyError, UnavailableError

BACKLOG = 1024  # connections that wait


def listening(host: str, port: int) -> socket.socket:
    """A socket that listens. BusyError if another program does at this port, UnavailableError if it may not be."""
    try:
        family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
        s = socket.socket(family, socket.SOCK_STREAM)
        s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        s.bind(address)
        s.listen(BACKLOG)
        return s
    except socket.gaierror as e:
        raise UnavailableError(f"--host {host}: {e.strerror}") from e
    except PermissionError as e:
        raise UnavailableError(f"port {port}: {e.strerror}: ports below 1024 need a privilege; use --port 8080") from e
    except OSError as e:
        kind = BusyError if e.errno == errno.EADDRINUSE else UnavailableError
        raise kind(f"{host}, port {port}: {os.strerror(e.errno or 0)}: use another --port, or end what uses it") from e
