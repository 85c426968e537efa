"""A stand-in for the Hugging Face Hub: enough of its routes to push a dataset or a model and load it again.

Run as a process: `python hub.py [--break-at N]` prints its address and serves until it is ended. GET /state tells what
it holds and the requests in order. "hf_writer_token" may write, "hf_reader_token" may not, other tokens are refused.
With --break-at, the Nth upload of a file's bytes is refused once.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock
from typing import Any
from urllib.parse import unquote, urlsplit

REPOS: dict[str, dict[str, Any]] = {}
BLOBS: dict[str, bytes] = {}
LOG: list[str] = []
UPLOADS: list[str] = []
LOCK = Lock()
BREAK_AT = int(sys.argv[sys.argv.index("--break-at") + 1]) if "--break-at" in sys.argv else 0
API = r"/api/(?:datasets|models)/(?P<repo>[^/]+/[^/]+)"
LARGE = (".parquet", ".safetensors", ".npy")


def sha(repo: dict[str, Any]) -> str:
    return hashlib.sha1(f"commit {repo['commits']}".encode()).hexdigest()


def oid_of(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def info(name: str) -> dict[str, Any]:
    repo = REPOS[name]
    siblings = [{"rfilename": path} for path in sorted(repo["files"])]
    return {
        "id": name,
        "sha": sha(repo),
        "siblings": siblings,
        "private": repo["private"],
        "tags": [],
        "disabled": False,
    }


def entry(path: str, content: bytes) -> dict[str, Any]:
    return {
        "type": "file",
        "path": path,
        "size": len(content),
        "oid": hashlib.sha1(content).hexdigest(),
        "lfs": {"oid": oid_of(content), "size": len(content), "pointerSize": 100},
    }


class Hub(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: object) -> None: ...

    def answer(self, data: Any = None, code: int = 200, **headers: str) -> None:
        body = data if isinstance(data, bytes) else json.dumps(data).encode()
        self.send_response(code)
        self.send_header("Content-Length", str(len(body)))
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def refuse(self, code: int, words: str, error: str = "") -> None:
        self.answer({"error": words}, code, **({"X_Error_Code": error} if error else {}), X_Error_Message=words)

    def handle_any(self) -> None:
        path = unquote(urlsplit(self.path).path)
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if path == "/state":
            return self.answer({"repos": {n: {**r, "files": sorted(r["files"])} for n, r in REPOS.items()},
                                "log": LOG, "uploads": UPLOADS})  # fmt: skip
        with LOCK:
            LOG.append(f"{self.command} {path}")
            if path.startswith("/blob/"):
                return self.take(path.removeprefix("/blob/"), body)
            token = self.headers.get("Authorization", "").removeprefix("Bearer ")
            if token not in ("hf_writer_token", "hf_reader_token"):
                return self.refuse(401, "Invalid username or password.")
            writes = self.command in ("POST", "PUT") and "paths-info" not in path and "validate-yaml" not in path
            if writes and token != "hf_writer_token":
                return self.refuse(403, "You don't have the rights.")
            return self.route(path, body)

    def take(self, oid: str, body: bytes) -> None:
        if len(UPLOADS) + 1 == BREAK_AT:
            UPLOADS.append("refused")
            return self.refuse(400, "the line broke")
        assert oid_of(body) == oid
        UPLOADS.append(oid)
        BLOBS[oid] = body
        return self.answer({})

    def route(self, path: str, body: bytes) -> None:
        if path == "/api/repos/create":
            asked = json.loads(body)
            name = f"{asked.get('organization') or 'user'}/{asked['name']}"
            if name.startswith("nobody/"):
                return self.refuse(404, "no such namespace")
            known = name in REPOS
            hidden = asked.get("visibility", "private" if asked.get("private") else "public") == "private"
            REPOS.setdefault(name, {"files": {}, "commits": 0, "private": hidden, "gated": False, "messages": []})
            return self.answer({"url": f"http://{self.headers['Host']}/datasets/{name}"}, 409 if known else 200)
        if path == "/api/validate-yaml":
            return self.answer({"errors": [], "warnings": []})
        if found := re.fullmatch(r"(?:/datasets)?/(?P<repo>[^/]+/[^/]+)\.git/info/lfs/objects/batch", path):
            return self.batch(json.loads(body))
        if found := re.fullmatch(r"(?:/datasets)?/(?P<repo>[^/]+/[^/]+)/resolve/[^/]+/(?P<file>.+)", path):
            return self.file(found["repo"], found["file"])
        if not (found := re.match(API, path)) or found["repo"] not in REPOS:
            return self.refuse(404, "Repository not found", "RepoNotFound")
        name, rest = found["repo"], path[found.end() :]
        repo = REPOS[name]
        if rest == "/settings":
            asked = json.loads(body)
            repo["gated"] = asked.get("gated", repo["gated"])
            repo["private"] = asked.get("visibility", asked.get("private")) in ("private", True)
            return self.answer({})
        if rest == "" or rest.startswith("/revision/"):
            return self.answer(info(name))
        if rest.startswith("/preupload/"):
            modes = [
                {"path": f["path"], "uploadMode": "lfs" if f["path"].endswith(LARGE) else "regular",
                 "shouldIgnore": False, "oid": None}
                for f in json.loads(body)["files"]
            ]  # fmt: skip
            return self.answer({"files": modes})
        if rest.startswith("/commit/"):
            return self.commit(name, body)
        if rest.startswith("/tree/"):
            under = "/".join(rest.split("/")[3:])
            files = {p: c for p, c in repo["files"].items() if p.startswith(f"{under}/" if under else "")}
            if under and not files:
                return self.refuse(404, "no such folder", "EntryNotFound")
            folders = sorted({p.rsplit("/", 1)[0] for p in files if "/" in p} - {under})
            listed = [{"type": "directory", "path": p, "oid": "0" * 40, "size": 0} for p in folders]
            return self.answer(listed + [entry(p, c) for p, c in sorted(files.items())])
        if rest.startswith("/paths-info/"):
            paths = json.loads(body)["paths"]
            return self.answer([entry(p, repo["files"][p]) for p in paths if p in repo["files"]])
        return self.refuse(404, f"no route {path}", "EntryNotFound")

    def batch(self, asked: dict[str, Any]) -> None:
        here = f"http://{self.headers['Host']}/blob/"
        objects = [
            {**item, **({} if item["oid"] in BLOBS else {"actions": {"upload": {"href": here + item["oid"]}}})}
            for item in asked["objects"]
        ]
        return self.answer({"transfer": "basic", "objects": objects})

    def commit(self, name: str, body: bytes) -> None:
        repo = REPOS[name]
        for line in body.decode().splitlines():
            item = json.loads(line)
            key, value = item["key"], item["value"]
            if key == "header":
                repo["messages"].append(value["summary"])
            elif key == "file":
                repo["files"][value["path"]] = base64.b64decode(value["content"])
            elif key == "lfsFile":
                repo["files"][value["path"]] = BLOBS[value["oid"]]
            elif key == "deletedFile":
                del repo["files"][value["path"]]
        repo["commits"] += 1
        return self.answer(
            {
                "commitUrl": f"http://{self.headers['Host']}/datasets/{name}/commit/{sha(repo)}",
                "commitOid": sha(repo),
                "success": True,
            }
        )

    def file(self, name: str, path: str) -> None:
        if name not in REPOS:
            return self.refuse(404, "Repository not found", "RepoNotFound")
        content = REPOS[name]["files"].get(path)
        if content is None:
            return self.refuse(404, "Entry not found", "EntryNotFound")
        headers = {"X_Repo_Commit": sha(REPOS[name]), "ETag": f'"{oid_of(content)}"', "Accept_Ranges": "bytes"}
        if wanted := re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range", "")):
            first, last = int(wanted[1]), int(wanted[2] or len(content) - 1)
            headers["Content_Range"] = f"bytes {first}-{last}/{len(content)}"
            return self.answer(content[first : last + 1], 206, **headers)
        return self.answer(content, **headers)


for verb in ("GET", "HEAD", "POST", "PUT"):
    setattr(Hub, f"do_{verb}", Hub.handle_any)

if __name__ == "__main__":
    server = ThreadingHTTPServer(("127.0.0.1", 0), Hub)
    print(f"http://127.0.0.1:{server.server_address[1]}", flush=True)
    server.serve_forever()
