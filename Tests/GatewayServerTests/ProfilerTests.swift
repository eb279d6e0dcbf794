import Domain
import Foundation
import Gateway
import GatewayAPI
import GatewayServer
import Hummingbird
import MeterTestKit
import ServerKit
import StoreTestKit
import Synchronization
import Testing

/// The page's addresses for the Firefox Profiler.
@Suite(.timeLimit(.minutes(10)))
struct ProfilerTests {
    private let web = WebBench()
    private static let viewer = "https://profiler.firefox.com"

    private func dependencies() -> WebPage.Dependencies {
        var dependencies = web.dependencies()
        dependencies.profiler = Profiler(
            directory: web.bench.directory, series: web.bench.series, host: .temporary,
            now: dependencies.now, makeRNG: dependencies.makeRNG)
        return dependencies
    }

    /// A watt and more for a minute, a minute without readings, and another minute. A part of it is not stored yet.
    private func record() async throws {
        try await web.bench.plugIn()
        let track = web.bench.recorder.track(for: ServerBench.id)
        var builder = SampleChunkBuilder(meter: ServerBench.id)
        for second in Array(0...60) + Array(120...180) {
            var reading = Reading()
            reading[.voltage] = 5
            reading[.current] = 0.2 + Double(second % 7) / 100
            let time = start + .seconds(second)
            if second < 150 { builder.append(time, reading) } else { track.append(time, reading) }
        }
        try await web.bench.store.append([builder.finish()].compactMap(\.self))
    }

    private var start: WallTime { web.bench.loop.wallNow + .seconds(-200) }

    private func request(_ meters: [String] = ["\(ServerBench.id)"], seconds: Range<Int>? = nil)
        -> String
    {
        let span = seconds.map {
            #","from":"\#(start + .seconds($0.lowerBound))","to":"\#(start + .seconds($0.upperBound))""#
        }
        return #"{"meters":\#(meters)\#(span ?? "")}"#
    }

    private func call(_ page: WebPage, _ body: String, _ method: HTTPRequest.Method = .post) async throws -> Answer {
        try await web.bench.request(method, "/v1/profiler", body, with: [WebRoutes(page: page)])
    }

    /// The path of a new address: of a profile of these seconds, or of a power source.
    private func path(_ page: WebPage, seconds: Range<Int>? = nil) async throws -> String {
        let body = try await call(page, request(seconds: seconds)).decode(ProfilerBody.self)
        #expect(body.url.hasPrefix("http://127.0.0.1:"))
        #expect((body.viewer == nil) == (seconds == nil))
        #expect((body.ends == nil) == (seconds == nil))
        return try #require(URL(string: body.url)).path
    }

    private func query(_ start: String, _ end: String) -> String { "?start=\(start)&end=\(end)" }

    private func milliseconds(_ second: Int) -> String { "\((start + .seconds(second)).millisecondsSince1970)" }

    private struct Track: Hashable {
        var times: [Double]
        var counts: [Int]

        init(_ json: String) throws {
            let root = try JSONSerialization.jsonObject(with: Data(json.utf8))
            let counters = try #require((root as? [String: Any])?["counters"] ?? root) as? [[String: Any]]
            let samples = try #require(counters?.first?["samples"] as? [String: Any])
            let data = samples["data"] as? [[Any]]
            times = data?.compactMap { $0.first as? Double } ?? samples["time"] as? [Double] ?? []
            counts = data?.compactMap { $0.last as? Int } ?? samples["count"] as? [Int] ?? []
        }
    }

    @Test func samples_addUpToTheStretch_andGapsHaveNone() async throws {
        try await record()
        try await web.serve(dependencies()) { page, port in
            let profile = try await WebBench.ask(port, "GET", try await path(page, seconds: 0..<181))
            let power = try await WebBench.ask(
                port, "GET", try await path(page) + query("\(milliseconds(0)).25", "\(milliseconds(180)).75"))
            for reply in [profile, power] {
                #expect(reply.status == 200)
                #expect(reply.headers["cache-control"] == "no-store")
                #expect(reply.headers["x-content-type-options"] == "nosniff")
            }
            #expect(ProfilerFormat(profile: profile.text).faults == [])
            #expect(ProfilerFormat(tracks: power.text, length: 180_000.5).faults == [])
            let (whole, asked) = (try Track(profile.text), try Track(power.text))
            #expect(whole.times == (Array(0...60) + Array(120...180)).map { Double($0) * 1000 })
            #expect(whole.counts[61] == 0)
            #expect(profile.text.contains(#""startTime":[60000],"endTime":[120000]"#))
            // The reading at the very start came before Firefox's.
            #expect(asked.times == whole.times.dropFirst().map { $0 - 0.25 })
            #expect(zip(asked.counts.dropFirst(), whole.counts.dropFirst(2)).allSatisfy { ($0 - $1).magnitude <= 1 })
            let stretch = try await web.bench.series.summary(
                of: ServerBench.id, in: start..<start + .seconds(181), host: .temporary)
            let energy = try #require(stretch.recording()?.totals.energy_Wh)
            #expect(energy > 0.03)
            #expect((Double(whole.counts.reduce(0, +)) - energy * 1e12).magnitude <= 0.5)
        }
    }

    /// What makes a viewer fail or draw nonsense, planted in a right profile.
    @Test(arguments: [
        (#""preprocessedProfileVersion":61"#, #""preprocessedProfileVersion":99"#, "meta.preprocessedProfileVersion"),
        (#""color":"grey""#, #""color":"red""#, "categories"),
        (#""prefix":[],"#, "", "shared.stackTable.prefix"),
        (#""isMainThread":true"#, #""isMainThread":false"#, "isMain"),
        (#""time":[0,1000,"#, #""time":[1000,1000,"#, "counter.samples.time rises"),
        (#""count":[0,"#, #""count":[0,0,"#, "counter.samples.count"),
        (#""count":[0,"#, #""count":[1,"#, "begins with 0"),
        (#""count":[0,"#, #""count":[0.5,"#, "is whole"),
        (#""time":[0,1000,"#, #""time":[-1,1000,"#, "is in the profile"),
        (#""mainThreadIndex":0"#, #""mainThreadIndex":1"#, "counter.mainThreadIndex"),
        (#""category":"power""#, #""category":"Memory""#, "counter.category"),
        (#""pid":"0","mainThread"#, #""pid":0,"mainThread"#, "counter.pid"),
        (#""data":[null],"name":[0]"#, #""data":[null],"name":[1]"#, "thread.markers.name"),
        (#""endTime":[120000]"#, #""endTime":[60000]"#, "thread.markers.endTime"), ("{", "", "the profile"),
    ])
    func wrongProfile_isFound(right: String, wrong: String, fault: String) async throws {
        try await record()
        try await web.serve(dependencies()) { page, port in
            let text = try await WebBench.ask(port, "GET", try await path(page, seconds: 0..<181)).text
            let place = try #require(text.range(of: right))
            let faults = ProfilerFormat(profile: text.replacingCharacters(in: place, with: wrong)).faults
            #expect(faults.contains { $0.contains(fault) }, "\(faults)")
        }
    }

    @Test func secretThatIsNotRight_getsOneAnswer_andNoLogHasIt() async throws {
        try await record()
        let query = query(milliseconds(0), milliseconds(10))
        let paths = ["/power/", "/profile/", "/power/00", "/profile/\(String(repeating: "0", count: 32))"]
        let texts = try await off(paths[3])
        try await web.serve(dependencies()) { page, port in
            let (power, profile) = (try await path(page), try await path(page, seconds: 0..<10))
            #expect(Set([power, profile]).allSatisfy { $0.split(separator: "/")[1].utf8.count == 32 })
            for path in [power + query, profile] { #expect(try await WebBench.ask(port, "GET", path).status == 200) }
            var wrong = paths
            wrong += [profile.replacing("profile", with: "power"), power.replacing("power", with: "profile")]
            web.bench.loop.advance(by: .seconds(600))
            wrong.append(profile)
            for path in wrong.map({ $0 + query }) {
                let reply = try await WebBench.ask(port, "GET", path)
                #expect(reply.status == 404)
                #expect(reply.text == texts, "\(path)")
            }
            #expect(try await WebBench.ask(port, "GET", power + query).status == 200)
            #expect(try await WebBench.ask(port, "POST", power, body: "{}").status == 405)
            #expect(try await call(page, "", .delete).status == 200)
            #expect(try await WebBench.ask(port, "GET", power + query).text == texts)
            let log = "\(web.bench.log.entries)"
            #expect(log.contains("URL for the Firefox Profiler created"))
            for path in [power, profile] { #expect(!log.contains(path.suffix(32))) }
        }
    }

    /// The answer of a page that has no addresses.
    private func off(_ path: String) async throws -> String {
        let page = WebBench()
        let text = Mutex("")
        try await page.serve { served, port in
            let refused = try await page.bench.request(
                .post, "/v1/profiler", request(), with: [WebRoutes(page: served)])
            #expect(refused.error?.next == "set [web] profiler = true in meterd.toml")
            let reply = try await WebBench.ask(port, "GET", path)
            #expect(reply.status == 404)
            text.withLock { $0 = reply.text }
        }
        return text.withLock { $0 }
    }

    /// On a page that is open to the network: an address needs no login, and lets nobody in elsewhere.
    @Test func onlyTheViewersPage_mayReadAProfile_andNoPageASource() async throws {
        try await record()
        try await web.serve(dependencies()) { page, _ in
            let port = try #require(
                IPAddress.hostAndPort(try await page.enable(host: "127.0.0.1", port: 0).listen)
            ).port
            let (profile, power) = (try await path(page, seconds: 0..<10), try await path(page))
            let asked = power + query(milliseconds(0), milliseconds(10))
            let cross = ["Origin": Self.viewer, "Sec-Fetch-Site": "cross-site"]
            for (path, headers, status, isOpen) in [
                (profile, cross, 200, true), (profile, [:], 200, false), (profile + "0", cross, 404, true),
                (profile, ["Origin": "https://profiler.firefox.com.evil.example"], 403, false),
                (profile, ["Origin": "http://profiler.firefox.com"], 403, false),
                (profile, ["Origin": "null"], 403, false),
                (profile, ["Sec-Fetch-Site": "cross-site"], 403, false),
                (profile, cross.merging(["Host": "evil.example"]) { $1 }, 403, true),
                (asked, [:], 200, false), (asked, cross, 403, false), ("/v1/status", cross, 403, false),
                ("/v1/status", [:], 401, false), ("/profile/../v1/status", [:], 401, false),
            ] as [(String, [String: String], Int, Bool)] {
                let reply = try await WebBench.ask(port, "GET", path, headers)
                #expect(reply.status == status, "\(path) \(headers)")
                #expect(
                    reply.headers["access-control-allow-origin"] == (isOpen ? Self.viewer : nil), "\(path) \(headers)")
            }
            let change = try await WebBench.ask(port, "POST", profile, cross, body: "{}")
            #expect(change.status == 403)
        }
    }

    @Test func timesThatAreNone_areNamed_andAskedForADayAtMost() async throws {
        try await record()
        try await web.serve(dependencies()) { page, port in
            let path = try await path(page)
            let zero = milliseconds(0)
            for (query, status) in [
                (query(zero, milliseconds(86_400)), 400), (query(zero, milliseconds(86_399)), 200),
                (query("\(zero).5", "\(zero).75"), 200), (query("1.5e12", "1500000000001"), 200),
                (query("0", "1"), 200), ("", 400), ("?start=1", 400), (query(zero, zero), 400), (query("2", "1"), 400),
                (query("nan", "1"), 400), (query("-1", "1"), 400), (query("1", "1e300"), 400), (query("1", "inf"), 400),
                (query("now", "then"), 400),
            ] {
                #expect(try await WebBench.ask(port, "GET", path + query).status == status, "\(query)")
            }
            // Nothing was measured then: no track, not one of zeros.
            #expect(try await WebBench.ask(port, "GET", path + query("0", "1")).text == "[]")
        }
    }

    @Test func requestsThatAreNone_areRefused() async throws {
        try await record()
        try await web.serve(dependencies()) { page, _ in
            let meter = "\(ServerBench.id)"
            for (body, status) in [
                (request([]), 400), (request(Array(repeating: meter, count: 9)), 400),
                (request(["nobody"]), 404), (request(seconds: 0..<86_401), 400),
                (request(seconds: 10..<10), 400), (#"{"meters":["\#(meter)"],"from":"\#(start)"}"#, 400),
                (#"{"meters":["\#(meter)"],"for_ms":0}"#, 400), (#"{"meters":["\#(meter)"],"for_ms":1}"#, 200),
                (#"{"meters":["\#(meter)"],"from":"now","to":"then"}"#, 400),
            ] {
                #expect(try await call(page, body).status == status, "\(body)")
            }
            web.bench.loop.advance(by: .milliseconds(1))
            for _ in 0..<64 { _ = try await path(page) }
            #expect(try await call(page, request()).status == 409)
        }
    }
}
