#!/usr/bin/env python3
"""Makes the tools that `autokit report tokens` counts, from published descriptions of APIs.

    pip download --no-deps google-api-python-client==2.202.0
    npm pack @octokit/openapi@23.0.2
    pip install brotli==1.1.0
    python3 tools.py google_api_python_client-2.202.0-py3-none-any.whl octokit-openapi-23.0.2.tgz OUT

Writes OUT: JSON lines, one tool each (name, provider, description, inputSchema), compressed with Brotli.
The same files in give the same bytes out. Every operation is one tool, as a server of the Model Context
Protocol would offer it: its parameters and the members of its body side by side, descriptions as
written, references resolved. Objects inside the body are kept to the depth DEPTH; what is deeper, or
refers to itself, is an object that says no more. Of several versions of an API the newest stable one
counts. Tools that say exactly the same, or have one name, are kept once, and COUNT of all are drawn by a fixed order.
"""

import hashlib
import json
import re
import sys
import tarfile
import zipfile

import brotli

DEPTH = 2
COUNT = 10_500
# Google's methods that move whole files, and parameters every method has, are no parameters of tools.
CONSTRAINTS = ("default", "enum", "format", "pattern", "minimum", "maximum", "minItems", "maxItems",
               "minLength", "maxLength")


def stable(version):
    """Newest stable version last: v1beta1 < v1 < v2."""
    numbers = [int(n) for n in re.findall(r"\d+", version)] or [0]
    return ("alpha" not in version and "beta" not in version, numbers)


def schema_of(given, resolve, depth, seen):
    """A JSON Schema of a schema, references resolved."""
    given, name = resolve(given)
    if name is not None:
        if name in seen:
            return {"type": "object"}
        seen = seen | {name}
    out = {}
    kind = given.get("type")
    if kind == "any":
        kind = None
    if isinstance(kind, str):
        out["type"] = kind
    elif isinstance(kind, list):
        out["type"] = kind
    if given.get("description"):
        out["description"] = given["description"]
    for key in CONSTRAINTS:
        if key in given:
            out[key] = given[key]
    if given.get("repeated"):
        return {"type": "array", **({"description": out.pop("description")} if "description" in out else {}),
                "items": out}
    if "items" in given:
        out["type"] = "array"
        out["items"] = schema_of(given["items"], resolve, depth, seen)
    for key in ("oneOf", "anyOf", "allOf"):
        if key in given:
            out[key] = [schema_of(one, resolve, depth, seen) for one in given[key]]
    if "properties" in given:
        out["type"] = "object"
        if depth > 0:
            members = {k: v for k, v in given["properties"].items() if not is_output(resolve(v)[0], v)}
            out["properties"] = {k: schema_of(v, resolve, depth - 1, seen) for k, v in members.items()}
            required = given.get("required")
            if isinstance(required, list) and required:
                out["required"] = [name for name in required if name in out["properties"]]
    if "additionalProperties" in given and isinstance(given["additionalProperties"], dict) and depth > 0:
        out["additionalProperties"] = schema_of(given["additionalProperties"], resolve, depth - 1, seen)
    return out


def is_output(resolved, given):
    return any(one.get("readOnly") or (one.get("description") or "").startswith("Output only")
               for one in (resolved, given))


def tool(name, provider, description, properties, required):
    schema = {"type": "object", "properties": properties}
    required = [one for one in dict.fromkeys(required) if one in properties]
    if required:
        schema["required"] = required
    return {"name": name, "provider": provider, "description": description, "inputSchema": schema}


def google(path):
    with zipfile.ZipFile(path) as wheel:
        documents = {}
        for entry in sorted(wheel.namelist()):
            if "/documents/" not in entry or not entry.endswith(".json"):
                continue
            document = json.loads(wheel.read(entry))
            if "name" not in document:
                continue
            known = documents.get(document["name"])
            if known is None or stable(document["version"]) > stable(known["version"]):
                documents[document["name"]] = document
    for name in sorted(documents):
        document = documents[name]
        schemas = document.get("schemas", {})

        def resolve(given):
            ref = given.get("$ref")
            if ref is None:
                return given, None
            target = schemas.get(ref, {"type": "object"})
            return ({**target, "description": given["description"]} if "description" in given else target), ref

        def methods(node):
            yield from node.get("methods", {}).values()
            for inner in node.get("resources", {}).values():
                yield from methods(inner)

        provider = document.get("canonicalName") or document.get("title") or name
        for method in methods(document):
            if not method.get("description"):
                continue
            properties = {k: schema_of(v, resolve, 0, frozenset())
                          for k, v in method.get("parameters", {}).items()}
            required = [k for k, v in method.get("parameters", {}).items() if v.get("required") is True]
            if "request" in method:
                body = schema_of(method["request"], resolve, DEPTH, frozenset())
                for k, v in body.get("properties", {}).items():
                    properties.setdefault(k, v)
            yield tool(method["id"].replace(".", "_"), provider, method["description"], properties, required)


def github(path):
    with tarfile.open(path) as package:
        document = json.load(package.extractfile("package/generated/api.github.com.json"))

    def resolve(given):
        ref = given.get("$ref")
        if ref is None:
            return given, None
        target = document
        for part in ref.removeprefix("#/").split("/"):
            target = target[part.replace("~1", "/").replace("~0", "~")]
        return target, ref

    for route in document["paths"].values():
        for method, operation in route.items():
            if method not in ("get", "put", "post", "patch", "delete") or not operation.get("description"):
                continue
            properties, required = {}, []
            for given in operation.get("parameters", []):
                parameter, _ = resolve(given)
                schema = schema_of(parameter.get("schema", {}), resolve, DEPTH, frozenset())
                if parameter.get("description"):
                    schema["description"] = parameter["description"]
                properties[parameter["name"]] = schema
                if parameter.get("required"):
                    required.append(parameter["name"])
            content = resolve(operation.get("requestBody", {}))[0].get("content", {})
            if "application/json" in content:
                body = schema_of(content["application/json"].get("schema", {}), resolve, DEPTH + 1, frozenset())
                for k, v in body.get("properties", {}).items():
                    properties.setdefault(k, v)
                required += body.get("required", [])
            name = operation["operationId"].replace("/", "_").replace("-", "_")
            yield tool("github_" + name, "GitHub", operation["description"], properties, required)


def main():
    wheel, package, out = sys.argv[1:]
    kept, names = {}, set()
    for one in [*google(wheel), *github(package)]:
        said = json.dumps([one["description"], one["inputSchema"]], sort_keys=True)
        if said not in kept and one["name"] not in names:
            kept[said] = one
            names.add(one["name"])
    order = sorted(kept.values(), key=lambda one: hashlib.sha256(one["name"].encode()).digest())
    # Beside one another, what is alike is compressed best.
    drawn = sorted(order[:COUNT], key=lambda one: (one["provider"], one["name"]))
    lines = "".join(json.dumps(one, ensure_ascii=False, separators=(",", ":")) + "\n" for one in drawn)
    packed = brotli.compress(lines.encode(), quality=11, lgwin=24)
    with open(out, "wb") as file:
        file.write(packed)
    print(f"{len(kept)} tools, {len(drawn)} kept, {len(lines.encode())} bytes, {len(packed)} compressed")


main()
