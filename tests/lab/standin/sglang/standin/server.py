"""HTTP of the stand-in: rank 0's API and the dummy of the other nodes."""
import http.server
import json
import secrets
import socket
import socketserver

from sglang.standin import api, log


class Server(socketserver.ThreadingMixIn, http.server.HTTPServer):
    daemon_threads = True
    request_queue_size = 2048
    allow_reuse_address = True

    def __init__(self, address, handler, context):
        self.context = context
        super().__init__(address, handler)

    def server_bind(self):  # HTTPServer's asks DNS for a name that nobody needs
        socketserver.TCPServer.server_bind(self)
        self.server_name, self.server_port = self.server_address[:2]

    def handle_error(self, request, client_address):
        pass  # a client that left


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_version, sys_version = "uvicorn", ""
    disable_nagle_algorithm = True
    timeout = 600

    def version_string(self):
        return "uvicorn"

    def log_message(self, *_):
        pass

    def reply(self, status, body=b"", kind="application/json"):
        if not isinstance(body, bytes):
            body = (body if isinstance(body, str) else json.dumps(body, ensure_ascii=False, separators=(",", ":"))).encode()
        self.send_response(status)
        self.access(status)
        self.send_header("Content-Length", str(len(body)))
        if body:
            self.send_header("Content-Type", kind)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def access(self, status):
        log.access(self.client_address, self.requestline, status, self.responses.get(status, ("",))[0])

    def start_stream(self):
        self.send_response(200)
        self.access(200)
        self.send_header("Content-Type", "text/event-stream; charset=utf-8")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()

    def event(self, data):
        text = data if isinstance(data, str) else json.dumps(data, ensure_ascii=False, separators=(",", ":"))
        payload = f"data: {text}\n\n".encode()
        self.wfile.write(b"%x\r\n%s\r\n" % (len(payload), payload))

    def end_stream(self):
        self.event("[DONE]")
        self.wfile.write(b"0\r\n\r\n")

    def body(self):
        """The request's JSON, or None after a 400 was sent."""
        length = int(self.headers.get("Content-Length") or 0)
        data = self.rfile.read(length) if length else b""
        try:
            value = json.loads(data or b"null")
        except ValueError as error:
            self.error(400, f"JSON decode error: {error}")
            return None
        if not isinstance(value, dict):
            self.error(400, "Input should be a valid dictionary or object to extract fields from")
            return None
        return value

    def error(self, status, message, kind="BadRequestError"):
        self.reply(status, {"object": "error", "message": message, "type": kind, "param": None, "code": status})

    def drop_body(self):
        length = int(self.headers.get("Content-Length") or 0)
        if length:
            self.rfile.read(length)


class ApiHandler(Handler):
    """Rank 0."""

    def allowed(self):
        """As SGLang's key check: /health* and /metrics* are open, all else needs the key."""
        key = self.server.context.args.api_key
        path = self.path
        if not key or self.command == "OPTIONS" or path.startswith("/health") or path.startswith("/metrics"):
            return True
        scheme, _, given = (self.headers.get("Authorization") or "").partition(" ")
        if scheme.lower() == "bearer" and secrets.compare_digest(given.encode(), key.encode()):
            return True
        self.drop_body()
        self.reply(401, {"error": "Unauthorized"})
        return False

    def handle_method(self, table):
        if not self.allowed():
            return
        route = table.get(self.path.split("?")[0])
        if route is None:
            self.drop_body()
            known = self.path.split("?")[0] in {**api.GET, **api.POST}
            return self.reply(405 if known else 404, {"detail": "Method Not Allowed" if known else "Not Found"})
        route(self, self.server.context)

    def do_GET(self):
        self.handle_method(api.GET)

    def do_POST(self):
        self.handle_method(api.POST)


class DummyHandler(Handler):
    """Ranks above 0: constant 200s with an empty body, whatever the GPU processes do."""

    def do_GET(self):
        if self.path.split("?")[0] in ("/ping", "/health", "/health_generate"):
            return self.reply(200)
        if self.path.startswith("/metrics") and self.server.context.args.enable_metrics:
            return self.reply(200, "", "text/plain")
        self.reply(404, {"detail": "Not Found"})


def bind(host, port, handler, context):
    """A listening server, or OSError."""
    if socket.has_ipv6 and ":" in host:
        Server.address_family = socket.AF_INET6
    return Server((host, port), handler, context)
