"""A chat endpoint on this machine, whose model answers by a function of the messages."""

import json
import re
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

_PIECE = re.compile(r"column (\d), row (\d): (\w+) (\w+)")


def pieces(messages):
    """Return column, row, colour and shape of the pieces that were listed last."""
    said = "".join(_text(message["content"]) for message in messages)
    return _PIECE.findall(said.split("now holds:")[-1])


def _text(content):
    return content if isinstance(content, str) else "".join(x["text"] for x in content)


def _completion(said):
    message = {"role": "assistant", "content": said}
    return {
        "id": "c1",
        "object": "chat.completion",
        "created": 1,
        "model": "plays",
        "choices": [{"index": 0, "message": message, "logprobs": None, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 100, "completion_tokens": 50, "total_tokens": 150},
    }


def _streamed(completion):
    """Return the events of a completion: its message in one, how it ends, and its usage."""
    [choice], usage = completion["choices"], completion["usage"]
    same = {**completion, "object": "chat.completion.chunk", "usage": None}
    deltas = [
        [{"index": 0, "delta": choice["message"], "finish_reason": None}],
        [{"index": 0, "delta": {}, "finish_reason": choice["finish_reason"]}],
    ]
    chunks = [same | {"choices": choices} for choices in deltas]
    chunks.append(same | {"choices": [], "usage": usage})
    said = [f"data: {json.dumps(chunk)}\n\n" for chunk in chunks]
    return "".join([*said, "data: [DONE]\n\n"]).encode()


@contextmanager
def serving(answer):
    """Serve until the end of the block; yield the base address."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            completion = _completion(answer(body["messages"]))
            data, kind = json.dumps(completion).encode(), "application/json"
            if body.get("stream"):
                data, kind = _streamed(completion), "text/event-stream"
            self.send_response(200)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
