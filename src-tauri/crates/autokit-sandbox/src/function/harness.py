"""Calls the function of a tool, or runs its tests, and reports what happened as JSON.

Standard input: {"mode": "call" | "tests", "arguments": {...}}
Standard output, last line: {"value": ...}, {"error": text} or {"access": text}, and "kibibytes" of memory
"""

import json
import linecache
import resource
import sys
import traceback


class Access(BaseException):
    """What the tool tried to reach. No exception, so that `except Exception` of the tool does not swallow it."""


STARTS = ("subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "os.spawn", "os.startfile", "os.fork",
          "os.forkpty", "pty.spawn", "os.kill", "os.killpg", "signal.pthread_kill", "ctypes.")
FILES = ("os.listdir", "os.scandir", "os.remove", "os.rename", "os.mkdir", "os.rmdir", "os.chmod", "os.chown",
         "os.link", "os.symlink", "os.truncate", "os.utime", "os.walk", "os.fwalk", "os.chdir", "os.putenv", "shutil.",
         "tempfile.", "glob.", "pathlib.", "mmap.", "sqlite3.connect", "dbm.", "fcntl.")
reached = []


def watch(libraries):
    """Stops the program where it leaves what a computation needs. The sandbox around it holds without this too."""

    def is_library(path):
        return isinstance(path, str) and path.startswith(libraries) and "/../" not in path

    def stop(what):
        reached.append(what)
        raise Access(what)

    def hook(event, arguments):
        first = arguments[0] if arguments else None
        if event == "open":
            mode, flags = arguments[1], arguments[2]
            written = (isinstance(mode, str) and any(c in mode for c in "wax+")) or bool(flags & 3)
            # A descriptor is of something that was opened before.
            if not isinstance(first, int) and (written or not is_library(first)):
                stop(f"opens the file {first!r}")
        elif event.startswith("socket."):
            stop("uses the network")
        elif event.startswith(STARTS):
            what = "calls native code" if event.startswith("ctypes.") else "starts or signals other programs"
            stop(f"{what} ({event})")
        elif event.startswith(FILES) and not (event in ("os.listdir", "os.scandir") and is_library(first)):
            stop(f"uses files ({event} {first!r})")

    sys.addaudithook(hook)


def where(error):
    """The last line of the tool or its tests that an error passed, and the error itself."""
    frames = [f for f in traceback.extract_tb(error.__traceback__) if f.filename in ("tool.py", "tests.py")]
    place = f" ({frames[-1].filename}, line {frames[-1].lineno})" if frames else ""
    if isinstance(error, SyntaxError):
        return f"{type(error).__name__}: {error}"
    return f"{type(error).__name__}: {error}{place}"


def attempt(action):
    """Returns what an action led to."""
    try:
        outcome = {"value": action()}
    except Access as error:
        outcome = {"access": str(error)}
    except RecursionError as error:
        outcome = {"error": f"RecursionError: {error}"}
    except SystemExit as error:
        outcome = {"error": f"it ends the program with {error.code!r}"}
    except BaseException as error:
        outcome = {"error": where(error)}
    # A tool that went on after it was stopped has not succeeded.
    return {"access": reached[0]} if reached else outcome


def exact(value):
    """Raises an error for what readers of JSON turn into something else."""
    if isinstance(value, int) and not -(2**63) <= value < 2**64:
        raise ValueError("a number has more than 64 bits; return it as a string")
    if isinstance(value, str):
        value.encode()
    for item in value.items() if isinstance(value, dict) else value if isinstance(value, (list, tuple)) else ():
        exact(item)


def load(name):
    with open(name, encoding="utf-8") as file:
        return compile(file.read(), name, "exec")


def main():
    asked = json.load(sys.stdin)
    out, sys.stdout = sys.stdout, sys.stderr
    sys.dont_write_bytecode = True
    # The first entry is the folder of the job: its files are no modules.
    sys.path = sys.path[1:]
    # Errors quote lines of code, which are not to be read again.
    linecache.updatecache = lambda *_: []
    names = {"__name__": "tool"}
    files = ["tool.py", "tests.py"] if asked["mode"] == "tests" else ["tool.py"]

    def run():
        return names["run"](**asked["arguments"])

    def tests():
        found = [(name, test) for name, test in names.items() if name.startswith("test") and callable(test)]
        results = []
        for name, test in found:
            outcome = attempt(test)
            if "access" in outcome:
                raise Access(outcome["access"])
            results.append({"name": name, "error": outcome.get("error")})
        return results

    read = attempt(lambda: [load(name) for name in files])
    watch(tuple(path.rstrip("/") + "/" for path in sys.path) + ("/usr/share/zoneinfo/",))
    loaded = attempt(lambda: [exec(code, names) for code in read["value"]] and None) if "value" in read else read
    report = loaded if "value" not in loaded else attempt(tests if asked["mode"] == "tests" else run)
    if "value" in report:
        try:
            json.dumps(report, allow_nan=False).encode()
            exact(report["value"])
        except (TypeError, ValueError, RecursionError) as error:
            report = {"error": f"its result is not JSON: {error}"}
    report["kibibytes"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(json.dumps(report), file=out, flush=True)


main()
