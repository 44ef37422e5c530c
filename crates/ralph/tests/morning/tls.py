"""A server for the tests: speaks TLS with the given certificate, prints its port, and appends each request to a file."""
import http.server
import json
import ssl
import sys

certificate, key, log = sys.argv[1:4]


class Handler(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0))).decode()
        headers = {name.lower(): value.encode("latin-1").decode() for name, value in self.headers.items()}
        with open(log, "a") as out:
            out.write(json.dumps({"path": self.path, "headers": headers, "body": body}) + "\n")
        status = {"/refuse": 403, "/move": 302}.get(self.path.split("?")[0], 200)
        self.send_response(status)
        if status == 302:
            self.send_header("Location", "/elsewhere")
        self.end_headers()

    def log_message(self, *_):
        pass


server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(certificate, key)
server.socket = context.wrap_socket(server.socket, server_side=True)
print(server.server_address[1], flush=True)
server.serve_forever()
