"""The rendezvous: global rank 0 listens on the dist-init port, every rank connects and stays connected, as with TCPStore.

Lines of JSON. A rank joins with its free GPU memory and gets the least of all; named barriers follow. When a connection ends, the
others are told, which is how a peer's death takes the world down.
"""
import json
import os
import select
import selectors
import socket
import threading
import time


class Timeout(Exception):
    """Not everybody came in time; .joined says how many did."""

    def __init__(self, joined):
        super().__init__(joined)
        self.joined = joined


class PeerDied(Exception):
    """A connection of the world ended. .rank is None when it was rank 0's."""

    def __init__(self, rank, address):
        super().__init__(rank, address)
        self.rank, self.address = rank, address


def end_with(parent):
    """Ends this process when the other end of the socket is closed."""
    try:
        if parent.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT):
            return
    except BlockingIOError:
        return
    except OSError:
        pass
    os._exit(0)


class Server:
    """Runs in a thread of global rank 0."""

    def __init__(self, world, port, listener=None):
        self.world, self.joined, self.members, self.waiting, self.gone = world, 0, {}, {}, False
        self._listener = listener or self._listen(port)
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._listener, selectors.EVENT_READ)
        self._buffers = {}
        threading.Thread(target=self._loop, daemon=True).start()

    @staticmethod
    def _listen(port):
        listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(("", port))
        listener.listen(512)
        return listener

    def _loop(self):
        while True:
            for key, _ in self._selector.select():
                if key.fileobj is self._listener:
                    peer, _ = self._listener.accept()
                    self._buffers[peer] = b""
                    self._selector.register(peer, selectors.EVENT_READ)
                else:
                    self._read(key.fileobj)

    def _read(self, peer):
        try:
            data = peer.recv(65536)
        except OSError:
            data = b""
        if not data:
            return self._lost(peer)
        *lines, self._buffers[peer] = (self._buffers[peer] + data).split(b"\n")
        for line in lines:
            try:
                self._handle(peer, json.loads(line))
            except (ValueError, KeyError, TypeError):
                return self._lost(peer)  # not one of us: a port scanner, say

    def _handle(self, peer, message):
        if "join" in message:
            self.members[peer] = (message["join"], message["mem"])
            self.joined = len(self.members)
            if self.joined == self.world:
                least = min(mem for _, mem in self.members.values())
                self._tell({"go": least})
        elif "barrier" in message:
            arrived = self.waiting.setdefault(message["barrier"], set())
            arrived.add(peer)
            if len(arrived) == self.world:
                self._tell({"pass": message["barrier"]})

    def _tell(self, message):
        data = json.dumps(message).encode() + b"\n"
        for peer in list(self.members):
            try:
                peer.sendall(data)
            except OSError:
                pass

    def _lost(self, peer):
        self._selector.unregister(peer)
        self._buffers.pop(peer, None)
        rank, _ = self.members.pop(peer, (None, None))
        if rank is not None:
            complete = self.joined == self.world
            self.joined = self.world if complete else len(self.members)
            if complete:
                try:
                    address = peer.getpeername()
                except OSError:
                    address = ("unknown", 0)
                self._tell({"dead": rank, "address": address})
        peer.close()


class Client:
    """A rank's end. watch: a socket whose closing means that our own parent is gone."""

    def __init__(self, rank, address, deadline, watch=None):
        self.rank, self.address, self._buffer, self.socket = rank, address, b"", None
        self.watch = [watch] if watch else []
        while self.socket is None:
            try:
                self.socket = socket.create_connection(address, timeout=max(0.1, min(5.0, deadline - time.monotonic())))
            except OSError:
                if time.monotonic() >= deadline:
                    raise Timeout(None) from None
                time.sleep(0.1)
        self.socket.settimeout(None)

    def join(self, free_gb, deadline):
        self._send({"join": self.rank, "mem": free_gb})
        return self._await("go", None, deadline)

    def barrier(self, name, deadline=None):
        self._send({"barrier": name})
        self._await("pass", name, deadline)

    def _send(self, message):
        try:
            self.socket.sendall(json.dumps(message).encode() + b"\n")
        except OSError:
            raise PeerDied(None, self.address) from None

    def _await(self, key, value, deadline):
        while True:
            message = self.next_message(deadline)
            if key in message and (value is None or message[key] == value):
                return message[key]

    def next_message(self, deadline=None):
        """The next line; PeerDied when it tells of a death or the connection ends, Timeout at the deadline."""
        while b"\n" not in self._buffer:
            left = None if deadline is None else deadline - time.monotonic()
            if left is not None and left <= 0:
                raise Timeout(None)
            ready, _, _ = select.select([self.socket] + self.watch, [], [], left)
            if not ready:
                raise Timeout(None)
            if self.socket not in ready:
                end_with(self.watch[0])
                continue
            try:
                data = self.socket.recv(65536)
            except OSError:
                data = b""
            if not data:
                raise PeerDied(None, self.address)
            self._buffer += data
        line, self._buffer = self._buffer.split(b"\n", 1)
        message = json.loads(line)
        if "dead" in message:
            raise PeerDied(message["dead"], tuple(message["address"]))
        return message
