"""A provider of language models on this machine, which answers as the real ones do.

Chat completions and messages, with the errors of both; ``test_real_clients.py`` holds it to the
clients that providers publish. What it does depends on the name of the model.
"""

import hashlib
import json
import re
import threading
import time
from collections import Counter
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

_PIECE = re.compile(r"column (\d), row (\d): (\w+) (\w+)")
_BUCKETS = {"red": 0, "black": 1, "blue": 2, "yellow": 3}


class Provider:
    """Answers requests, and keeps count of them."""

    def __init__(self):
        self.lock = threading.Lock()
        self.url = ""
        self.requests = []  # bodies, in the order in which they came
        self.headers = []
        self.n_sent = Counter()  # how often each body came
        self.answered = Counter()  # how often each was answered to the last byte
        self.say = play  # what an answer says, a function of the request
        self.hangs_s, self.hangs_every = 2.0, 1

    def reply(self, path, headers, body):
        """Return status, headers, and the answer as a table or as bytes."""
        with self.lock:
            self.requests.append(body)
            self.headers.append(dict(headers))
            key = _key(body)
            self.n_sent[key] += 1
            n = self.n_sent[key]
        messages = path.endswith("/messages")
        refusal = _refusal(headers, body, messages=messages)
        if refusal is not None:
            return refusal
        model = body["model"]
        trouble = _TROUBLES.get(model)
        if trouble is not None:
            found = trouble(self, body, n, messages)
            if found is not None:
                return found
        said, finish = _FINISHES.get(model, (None, "stop"))
        said = self.say(body) if said is None else said
        return 200, {}, (_message if messages else _completion)(body, said, finish)


def _key(body):
    return hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()


def play(body):
    """Answer with a move of the first piece, into the bucket of its colour."""
    x, y, color, _ = pieces(body)[0]
    return f"I think of MOVE 9 9 9.\nMOVE {x} {y} {_BUCKETS[color]}"


def pieces(body):
    """Return column, row, colour and shape of the pieces that were listed last."""
    said = "".join(text_of(message) for message in body["messages"])
    return _PIECE.findall(said.split("holds now:")[-1])


def text_of(message):
    content = message["content"]
    if isinstance(content, str):
        return content
    return "".join(part["text"] for part in content if part["type"] == "text")


def _refusal(headers, body, *, messages):
    """Return what a provider refuses before it asks any model."""
    if "Authorization" not in headers and "x-api-key" not in headers:
        return _error(401, "authentication_error", "no key", messages=messages)
    if not messages:
        if body["model"] == "reasons" and body.get("temperature", 1) != 1:
            text = "Unsupported value: 'temperature' does not support 0 with this model."
            return _error(400, "invalid_request_error", text, "temperature", "unsupported_value")
        if body["model"] == "reasons" and "max_tokens" in body:
            text = "Unsupported parameter: 'max_tokens' is not supported with this model."
            return _error(400, "invalid_request_error", text, "max_tokens", "unsupported_parameter")
        return None
    if "anthropic-version" not in headers or "max_tokens" not in body:
        text = "max_tokens: Field required"
        return _error(400, "invalid_request_error", text, messages=True)
    if any(message["role"] not in ("user", "assistant") for message in body["messages"]):
        text = 'messages: Unexpected role "system"'
        return _error(400, "invalid_request_error", text, messages=True)
    return None


def _error(status, kind, text, param=None, code=None, *, messages=False, **headers):
    if messages:
        record = {"type": "error", "error": {"type": kind, "message": text}, "request_id": "r"}
    else:
        record = {"error": {"message": text, "type": kind, "param": param, "code": code}}
    return status, {name.replace("_", "-"): value for name, value in headers.items()}, record


def _limited(provider, body, n, messages):
    if n < 3:
        return _error(429, "rate_limit_error", "slow down", messages=messages, Retry_After="0.05")
    return None


def _quota(provider, body, n, messages):
    return _error(429, "insufficient_quota", "no money", None, "insufficient_quota")


def _overloaded(provider, body, n, messages):
    if n == 1:
        return _error(529, "overloaded_error", "Overloaded", messages=messages, Retry_After="0.01")
    return None


def _hangs(provider, body, n, messages):
    if n > 1 or len(str(body)) % provider.hangs_every:
        return None
    time.sleep(provider.hangs_s)
    return 200, {}, b""


def _dies(provider, body, n, messages):
    return (200, {"Content-Length": "5000"}, b'{"choices": [{"mess') if n == 1 else None


def _junk(provider, body, n, messages):
    if n > 2:
        return None
    return 200, {}, b"<html>502</html>" if n == 1 else b'{"choices": []}'


_TROUBLES = {
    "limited": _limited,
    "quota": _quota,
    "overloaded": _overloaded,
    "hangs": _hangs,
    "dies": _dies,
    "junk": _junk,
}
_FINISHES = {
    "refuses": ("I cannot help with that.", "refusal"),
    "filters": (None, "content_filter"),
    "overthinks": ("<think>perhaps MOVE 1 1 1", "length"),
}


def _completion(body, said, finish):
    message = {"role": "assistant", "content": said, "refusal": None}
    if finish == "refusal":
        message, finish = message | {"content": None, "refusal": said}, "stop"
    elif finish == "content_filter":
        message["content"] = None
    elif "tools" in body:
        call = {"name": body["tools"][0]["function"]["name"], "arguments": said}
        message |= {"content": None}
        message["tool_calls"] = [{"id": "call_1", "type": "function", "function": call}]
        finish = "tool_calls"
    n_in, n_out = len(json.dumps(body["messages"])) // 4, 50
    return {
        "id": "c1",
        "object": "chat.completion",
        "created": 1,
        "model": f"{body['model']}-2026-10-01",
        "choices": [{"index": 0, "message": message, "logprobs": None, "finish_reason": finish}],
        "usage": {
            "prompt_tokens": n_in,
            "completion_tokens": n_out,
            "total_tokens": n_in + n_out,
            "prompt_tokens_details": {"cached_tokens": 10},
            "completion_tokens_details": {"reasoning_tokens": 30},
        },
    }


def _streamed(completion):
    """Return the events of a completion: its message in one, what it ends with, what it used."""
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


def _message(body, said, finish):
    ends = {"stop": "end_turn", "length": "max_tokens", "content_filter": "refusal"}
    blocks = [{"type": "thinking", "thinking": "MOVE 1 1 1", "signature": "s"}]
    if "tools" in body:
        name, tool = body["tools"][0]["name"], json.loads(said)
        blocks.append({"type": "tool_use", "id": "t1", "name": name, "input": tool})
        finish = "tool_use"
    elif finish in ("refusal", "content_filter"):
        blocks = []
    else:
        blocks.append({"type": "text", "text": said})
    return {
        "id": "m1",
        "type": "message",
        "role": "assistant",
        "model": body["model"],
        "content": blocks,
        "stop_reason": ends.get(finish, finish),
        "stop_sequence": None,
        "usage": {
            "input_tokens": 90,
            "output_tokens": 50,
            "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": 10,
        },
    }


@contextmanager
def serving():
    """Serve until the end of the block."""
    provider = Provider()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            status, headers, answer = provider.reply(self.path, self.headers, body)
            data = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
            kind = "application/json"
            if body.get("stream") and status == 200 and isinstance(answer, dict):
                data, kind = _streamed(answer), "text/event-stream"
            self.send_response(status)
            headers = {"Content-Type": kind, "Content-Length": len(data)} | headers
            for name, value in headers.items():
                self.send_header(name, value)
            self.end_headers()
            try:
                self.wfile.write(data)
            except OSError:
                return
            if status == 200 and isinstance(answer, dict):
                with provider.lock:
                    provider.answered[_key(body)] += 1

        def log_message(self, *_):
            pass

        def handle_error(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    server.handle_error = lambda *_: None
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    provider.url = f"http://127.0.0.1:{server.server_port}/v1"
    try:
        yield provider
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
