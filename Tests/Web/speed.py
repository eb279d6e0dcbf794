"""How fast the page is on a slow device: the chart of a fast meter as it goes, a month, and a first visit.

usage: Tests/Web/run speed [--bin FOLDER] [--seconds N] [--slower N] [--keep FILE] [PART…]

A meterd reads a simulated KM003C each 40 ms into a store that has 31 days of it, the last ten minutes with 100 readings a second.
Chromium, of a phone's size with 3 pixels a dot, has its processor slowed down by DevTools (Emulation.setCPUThrottlingRate), and is
traced (Tracing) while the page

    follows     five minutes of the meter, as it comes,
    is pointed  at: the mouse goes over the chart at 60 steps a second,
    is zoomed   by the wheel and moved, ten times a second.

Of the trace's main thread of the page three things count, all by the wall, the slowing-down included: the longest task (RunTask);
what script and layout (JavaScript, timers, events, styles, layout) take from one drawn frame to the next; and, told apart from
these, painting, which a machine without a graphics processor does on the same thread. The host's other work is in them too.
"""

import argparse
import collections
import json
import math
import os
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.parse
import urllib.request

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "Support"))
try:
    import trio
    import trio_websocket
except ImportError as missing:
    print(f"skipped: the speed of the page, which needs {missing.name} (apt-get install python3-selenium)")
    sys.exit(75)

from harness import Failure, Meterd, Program, wait  # noqa: E402

METER = "02:00:00:00:3C:0C"
SIZE = (390, 844)
# What the goals are (see Docs/Web.md).
TASK_MAX, FRAME_MAX, OPEN_MAX, VISIT_MAX = 100, 16, 500, 200_000
CATEGORIES = ["devtools.timeline", "disabled-by-default-devtools.timeline", "toplevel", "v8.execute"]
PROFILER = "disabled-by-default-v8.cpu_profiler"

SCRIPT = {"FunctionCall", "EvaluateScript", "FireAnimationFrame", "TimerFire", "EventDispatch", "RunMicrotasks", "v8.callFunction", "XHRLoad",
          "MinorGC", "MajorGC", "V8.GCScavenger", "V8.GCFinalizeMC", "HitTest", "v8.compile", "v8.evaluateModule", "ParseHTML"}
LAYOUT = {"UpdateLayoutTree", "Layout", "RecalculateStyles", "IntersectionObserverController::computeIntersections", "ScheduleStyleRecalculation"}
PAINTING = {"PrePaint", "Paint", "Layerize", "Commit", "UpdateLayer", "CompositeLayers", "RasterTask", "PaintImage", "UpdateLayerTree"}


class Chrome:
    """Chromium, spoken to by DevTools."""

    def __init__(self, folder):
        self.folder = folder
        self.process = subprocess.Popen(
            [shutil.which("chromium") or "chromium", "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
             "--disable-background-networking", "--disable-component-update", "--no-first-run", "--remote-debugging-port=0",
             f"--user-data-dir={folder}/chromium", f"--window-size={SIZE[0]},{SIZE[1]}", "about:blank"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        file = f"{folder}/chromium/DevToolsActivePort"
        wait("Chromium is there", lambda: os.path.exists(file) and len(open(file, encoding="ascii").read().split()) > 1, seconds=60)
        self.port = int(open(file, encoding="ascii").read().split()[0])
        self.number = 0
        self.events = []

    async def attach(self):
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/json") as answer:
            page = next(one for one in json.load(answer) if one["type"] == "page")
        # Longer than any answer: a trace comes in pieces.
        self.socket = await trio_websocket.connect_websocket_url(self.nursery, page["webSocketDebuggerUrl"], max_message_size=1 << 28)

    async def call(self, method, **params):
        """The result of a command. What comes in between is kept."""
        self.number += 1
        number = self.number
        await self.socket.send_message(json.dumps({"id": number, "method": method, "params": params}))
        while True:
            message = json.loads(await self.socket.get_message())
            if message.get("id") == number:
                if "error" in message:
                    raise Failure(f"{method}: {message['error']}")
                return message["result"]
            self.events.append(message)

    async def js(self, script):
        """The value of an expression, also of one that is waited for."""
        result = await self.call("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in result:
            raise Failure(f"{script}: {result['exceptionDetails']}")
        return result["result"].get("value")

    async def until(self, what, script, seconds=60):
        end = trio.current_time() + seconds
        while not await self.js(script):
            if trio.current_time() > end:
                raise Failure(f"{what} took more than {seconds} s")
            await trio.sleep(0.1)

    async def trace(self, act, profile=False):
        """What the browser did meanwhile."""
        categories = [*CATEGORIES, PROFILER] if profile else CATEGORIES
        await self.call("Tracing.start", traceConfig={"includedCategories": categories}, transferMode="ReportEvents")
        await act()
        self.events = []
        await self.call("Tracing.end")
        found = []
        while True:
            message = json.loads(await self.socket.get_message())
            if message["method"] == "Tracing.dataCollected":
                found += message["params"]["value"]
            if message["method"] == "Tracing.tracingComplete":
                return found

    def end(self):
        self.process.terminate()
        self.process.wait(30)


# MARK: What a trace says

def main_thread(events):
    """The events of the page's main thread, by their beginnings."""
    names = {(one["pid"], one["tid"]): one["args"]["name"] for one in events if one.get("name") == "thread_name"}
    count = collections.Counter((one["pid"], one["tid"]) for one in events
                                if one.get("name") == "FireAnimationFrame" and names.get((one["pid"], one["tid"])) == "CrRendererMain")
    if not count:
        raise Failure("the trace has no frame of the page")
    thread = count.most_common(1)[0][0]
    return sorted((one for one in events if (one["pid"], one["tid"]) == thread and "dur" in one), key=lambda one: (one["ts"], -one["dur"]))


def covered(events, names):
    """The times in which something of these names runs: [begin, end], µs. What lies within another counts once."""
    found = []
    for one in events:
        if one["name"] not in names:
            continue
        begin, end = one["ts"], one["ts"] + one["dur"]
        if found and begin <= found[-1][1]:
            found[-1][1] = max(found[-1][1], end)
        else:
            found.append([begin, end])
    return found


def part(spans, begin, end):
    """How much of a time spans cover, ms."""
    return sum(max(0, min(end, span[1]) - max(begin, span[0])) for span in spans) / 1000


def percentile(values, share):
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, math.ceil(share * len(ordered)) - 1)] if ordered else 0


def figures(events):
    """Longest task, and of the drawn frames script with layout, and painting."""
    thread = main_thread(events)
    tasks = [one["dur"] / 1000 for one in thread if one["name"] == "RunTask"]
    work = covered(thread, SCRIPT | LAYOUT)
    painting = covered(thread, PAINTING)
    frames = [one["ts"] + one["dur"] for one in thread if one["name"] == "Commit"]
    times, paints = [], []
    for begin, end in zip([thread[0]["ts"], *frames], frames):
        times.append(part(work, begin, end))
        paints.append(part(painting, begin, end))
    seconds = (thread[-1]["ts"] - thread[0]["ts"]) / 1e6
    return {"task": max(tasks), "frames": len(frames), "p50": percentile(times, .5), "p95": percentile(times, .95),
            "most": max(times, default=0), "paint95": percentile(paints, .95), "share": sum(tasks) / 10 / seconds}


def tell(name, found):
    is_good = found["task"] <= TASK_MAX and found["p95"] <= FRAME_MAX
    print(f"{'ok    ' if is_good else 'MISSED'} {name:10} longest task {found['task']:6.1f} ms · {found['frames']:4} frames, "
          f"script and layout p50 {found['p50']:5.1f}, p95 {found['p95']:5.1f}, most {found['most']:6.1f} ms · "
          f"painting p95 {found['paint95']:5.1f} ms · busy {found['share']:4.1f} %", flush=True)
    return is_good


# MARK: What is done with the page

# Left, top, width and height of the chart, which is then in the middle of the screen.
PLACE = """(() => { const plot = document.querySelector('.plot'); plot.scrollIntoView({ block: 'center' });
  const r = plot.getBoundingClientRect(); return [r.left, r.top, r.width, r.height]; })()"""


async def move(chrome, x, y, kind="mouseMoved", **more):
    await chrome.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="none", **more)


async def pointed(chrome, seconds):
    """Over the chart and back, as a hand does."""
    left, top, width, height = await chrome.js(PLACE)
    began = trio.current_time()
    while (passed := trio.current_time() - began) < seconds:
        await move(chrome, left + width * (0.5 + 0.4 * math.sin(passed * 2)), top + height * 0.5)
        await trio.sleep(1 / 60)


async def zoomed(chrome, seconds):
    """In, along, and out again."""
    left, top, width, height = await chrome.js(PLACE)
    await chrome.js("document.querySelector('.plot').focus()")
    began, step = trio.current_time(), 0
    while trio.current_time() - began < seconds:
        kind = {"deltaY": 120 if step // 10 % 4 == 2 else -120 if step // 10 % 4 == 0 else 0, "deltaX": 60 if step // 10 % 2 else 0}
        await move(chrome, left + width / 2, top + height / 2, "mouseWheel", **kind)
        step += 1
        await trio.sleep(0.1)
    await chrome.js("document.querySelector('.plot').dispatchEvent(new KeyboardEvent('keydown', { key: 'Home' }))")


async def measure(chrome, url, arguments):
    path = f"#/meter/{urllib.parse.quote(METER, safe='')}"
    good = True
    async with trio.open_nursery() as nursery:
        chrome.nursery = nursery
        await chrome.attach()
        for method, params in (("Page.enable", {}), ("Runtime.enable", {}), ("Network.enable", {}),
                               ("Emulation.setDeviceMetricsOverride", {"width": SIZE[0], "height": SIZE[1], "deviceScaleFactor": 3, "mobile": True})):
            await chrome.call(method, **params)
        # A first visit, not slowed down: its weight is what counts.
        await chrome.call("Page.navigate", url=f"{url}/{path}")
        await chrome.until("the page", "document.querySelector('.plot canvas')?.width > 0 && Boolean(document.querySelector('#set-notes'))")
        await trio.sleep(2)
        weight = await chrome.js("performance.getEntriesByType('resource').concat(performance.getEntriesByType('navigation'))"
                                 ".filter((e) => !e.name.includes('/v1/live')).reduce((sum, e) => sum + e.transferSize, 0)")
        print(f"{'ok    ' if weight <= VISIT_MAX else 'MISSED'} first visit {weight} bytes")
        good &= weight <= VISIT_MAX
        await chrome.call("Emulation.setCPUThrottlingRate", rate=arguments.slower)
        await chrome.js("document.querySelector('.plot').scrollIntoView({ block: 'center' })")
        await trio.sleep(3)
        acts = {"follows": lambda: trio.sleep(arguments.seconds), "pointed": lambda: pointed(chrome, arguments.seconds / 3),
                "zoomed": lambda: zoomed(chrome, arguments.seconds / 3)}
        for name, act in acts.items():
            if arguments.parts and name not in arguments.parts:
                continue
            events = await chrome.trace(act, arguments.profile)
            if arguments.keep:
                with open(f"{arguments.keep}-{name}.json", "w", encoding="utf-8") as file:
                    json.dump(events, file)
            good &= tell(name, figures(events))
        for rate in (1, arguments.slower) if not arguments.parts or "month" in arguments.parts else ():
            await chrome.call("Emulation.setCPUThrottlingRate", rate=rate)
            took = await month(chrome, url, path)
            is_good = rate != 1 or took <= OPEN_MAX
            print(f"{'ok    ' if is_good else 'MISSED'} 31 days    drawn {took:.0f} ms after they were asked for"
                  f"{'' if rate == 1 else f', {rate} times slower'}", flush=True)
            good &= is_good
        await chrome.socket.aclose()
    return good


async def month(chrome, url, path):
    """From the click on "All" until the curves of 31 days are drawn: the median of five."""
    took = []
    for _ in range(5):
        for address in ("about:blank", f"{url}/{path}"):
            await chrome.call("Page.navigate", url=address)
            await trio.sleep(1)
        await chrome.until("the page", "document.querySelector('.plot canvas')?.width > 0 && document.querySelector('.badge').textContent === 'Live'")
        await trio.sleep(1)
        took.append(await chrome.js("""(async () => {
          const began = performance.now();
          const asked = () => performance.getEntriesByType('resource')
            .filter((e) => e.name.includes('/series?') && e.startTime >= began && e.responseEnd > 0);
          const [line, frame] = [CanvasRenderingContext2D.prototype.lineTo, () => new Promise((next) => requestAnimationFrame(next))];
          let drawn = 0;
          CanvasRenderingContext2D.prototype.lineTo = function (x, y) { drawn += 1; line.call(this, x, y); };
          [...document.querySelectorAll('.tools .seg button')].find((b) => b.textContent === 'All').click();
          const isAll = (e) => Number(new URL(e.name).searchParams.get('from')) < Date.now() - 30 * 86400e3 && e.name.includes('power_W');
          while (!asked().some(isAll)) await frame();
          for (drawn = 0; drawn < 300;) await frame();
          CanvasRenderingContext2D.prototype.lineTo = line;
          return performance.now() - began; })()"""))
    return sorted(took)[2]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", default=".build/debug")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--slower", type=float, default=6)
    parser.add_argument("--listen", default="127.0.0.1:0", help="where meterd serves its page")
    parser.add_argument("--page", help="the page's address where something else is in front of meterd")
    parser.add_argument("--keep", help="where to put the traces: FILE-follows.json …")
    parser.add_argument("--profile", action="store_true", help="with a profile of the script in them, which takes time itself")
    parser.add_argument("parts", nargs="*")
    arguments = parser.parse_args()
    print(f"load {os.getloadavg()[0]:.1f} of {os.cpu_count()} processors")
    folder = tempfile.mkdtemp(prefix="speed-")
    os.mkdir(f"{folder}/state")
    subprocess.run([f"{arguments.bin}/Benchmarks", "fill", f"{folder}/state/meterd.sqlite", METER], check=True, stdout=subprocess.DEVNULL)
    meter = Program("meter", [f"{arguments.bin}/meterctl", "simulate", "km003c", "--pty", "--refresh", "10ms"], folder, takes_orders=True)
    daemon = Meterd(arguments.bin, folder, environment={"METERD_WEB_LISTEN": arguments.listen})
    chrome = None
    good = False
    try:
        meter.start()
        port = meter.wait_for(r"(/dev/pts/\d+)").group(1)
        daemon.start()
        url = daemon.wait_for(r"web page started .*url=(http://\S+)", 60).group(1).rstrip("/")
        daemon.must("connect", port, "--model", "km003c", "--id", METER)
        daemon.must("set", METER, "poll-interval=40ms")
        chrome = Chrome(folder)
        good = trio.run(measure, chrome, arguments.page or url, arguments)
    finally:
        if chrome:
            chrome.end()
        daemon.stop(40)
        meter.stop(20)
        shutil.rmtree(folder, ignore_errors=True)
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
