import Cryptography
package import Domain
package import Gateway
import GatewayAPI
import Hummingbird

/// Serves meters' power to Firefox as power tracks, and to profiler.firefox.com as a profile of a time span.
///
/// Each address contains a secret of 128 bits, which gives access only to the power of its meters. meterd keeps only
/// its SHA-256, in memory.
package actor Profiler {
    struct Meter: Sendable {
        var id: MeterID
        /// Name or model, never the id, because a person may publish the profile.
        var name: String
        var model: String
    }

    private struct Grant: Sendable {
        var meters: [Meter]
        /// Time span of the profile; nil for Firefox's own power tracks, because Firefox requests the range.
        var span: Range<WallTime>?
        /// Nil if the grant is valid until meterd restarts.
        var end: MonotonicTime?

        var kind: ProfilerPath.Kind { span == nil ? .power : .profile }

        func isServed(at now: MonotonicTime) -> Bool { end.map { now < $0 } ?? true }
    }

    private static let profileDuration = Duration.seconds(600)
    private static let grantsMax = 64
    private static let metersMax = 8
    private static let lengthMax = Duration.seconds(86_400)
    /// Maximum numbers of loaded readings and of sent samples in one answer, for all meters together.
    private static let (readingsMax, samplesMax) = (2_000_000, 200_000)

    private let directory: MeterDirectory
    private let series: SeriesService
    private let host: HostID
    private let now: @Sendable () -> MonotonicTime
    private let makeRNG: @Sendable () -> any RandomNumberGenerator
    /// Keyed by the secret's SHA-256: the duration of a look-up then does not help to guess the secret.
    private var grants: [[UInt8]: Grant] = [:]
    private var isReading = false

    package init(
        directory: MeterDirectory, series: SeriesService, host: HostID, now: @escaping @Sendable () -> MonotonicTime,
        makeRNG: @escaping @Sendable () -> any RandomNumberGenerator
    ) {
        self.directory = directory
        self.series = series
        self.host = host
        self.now = now
        self.makeRNG = makeRNG
    }

    // MARK: For people

    /// - Returns: path and lifetime; the lifetime is nil if the path is valid until meterd ends.
    func open(_ request: ProfilerRequest) async throws -> (path: ProfilerPath, duration: Duration?) {
        guard (1...Self.metersMax).contains(request.meters.count) else {
            throw GatewayError(
                .badRequest, "\(request.meters.count) meters cannot be shown",
                next: "name 1 to \(Self.metersMax)")
        }
        var grant = Grant(meters: [], span: try Self.span(of: request))
        let statuses = await directory.status()
        for reference in request.meters {
            let id = try await directory.meter(reference)
            let status = statuses.first { $0.id == id.description }
            let model = status?.model ?? "USB meter"
            grant.meters.append(Meter(id: id, name: status?.name ?? model, model: model))
        }
        let duration = grant.span == nil ? request.for_ms.map { Duration.milliseconds($0) } : Self.profileDuration
        let now = now()
        grant.end = duration.map { now + $0 }
        grants = grants.filter { $0.value.isServed(at: now) }
        guard grants.count < Self.grantsMax else {
            throw GatewayError(
                .refused, "\(Self.grantsMax) addresses are in use", next: "meterctl profiler --end ends all")
        }
        let secret = Self.secret(makeRNG())
        grants[SHA256.digest(Array(secret.utf8))] = grant
        return (ProfilerPath(grant.kind, secret), duration)
    }

    func endAll() { grants = [:] }

    private static func span(of request: ProfilerRequest) throws -> Range<WallTime>? {
        if request.from == nil, request.to == nil, (1...31_536_000_000).contains(request.for_ms ?? 1) { return nil }
        guard let start = request.from.flatMap({ WallTime($0) }), let end = request.to.flatMap({ WallTime($0) }),
            request.for_ms == nil
        else {
            throw GatewayError(
                .badRequest, "from, to or for_ms is not possible",
                next: "give two times such as 2026-11-21T13:40:05Z, or at most a year in milliseconds")
        }
        return try limited(.stretch(from: start, to: end))
    }

    private static func limited(_ span: Range<WallTime>) throws -> Range<WallTime> {
        guard span.upperBound <= span.lowerBound + lengthMax else {
            throw GatewayError(.badRequest, "the stretch is longer than a day", next: "ask for a shorter one")
        }
        return span
    }

    private static func secret(_ rng: any RandomNumberGenerator) -> String {
        var rng = rng
        return Hex.encode((0..<2).flatMap { _ in withUnsafeBytes(of: rng.next() as UInt64) { Array($0) } })
    }

    // MARK: For Firefox

    /// Wrong secrets, expired secrets, and secrets for the other kind of path cause the same error.
    func response(to request: Request, at path: ProfilerPath) async throws -> Response {
        guard let grant = grants[SHA256.digest(Array(path.secret.utf8))], grant.kind == path.kind,
            grant.isServed(at: now())
        else { throw Self.unknown }
        let (start, span) =
            try grant.span.map { (Double($0.lowerBound.millisecondsSince1970), $0) }
            ?? Self.span(of: request)
        guard !isReading else {
            throw GatewayError(.tooManyRequests, "another profile is being read", next: "try again in some seconds")
        }
        isReading = true
        defer { isReading = false }
        let length = span.upperBound.millisecondsSince1970 - span.lowerBound.millisecondsSince1970
        var document = ProfilerDocument(start: start, length: length)
        var budget = Self.readingsMax
        for meter in grant.meters {
            let energy = try await series.energy(
                of: meter.id, in: span, host: host, samplesMax: Self.samplesMax / Self.metersMax, budget: &budget)
            document.add(energy, of: meter)
        }
        return Response(
            status: .ok, headers: [.contentType: "application/json; charset=utf-8"],
            body: ResponseBody(byteBuffer: grant.kind == .power ? document.tracks : document.profile))
    }

    static let unknown = GatewayError(
        .notFound, "there is nothing here", next: "see Docs/meterd-openapi.yaml for the routes")

    /// Returns the start in fractional milliseconds since 1970, and the time span. Firefox's range includes its end, so
    /// a millisecond is added.
    private static func span(of request: Request) throws -> (Double, Range<WallTime>) {
        let (start, end) = (try request.milliseconds("start"), try request.milliseconds("end"))
        guard start < end else {
            throw GatewayError(.badRequest, "end does not come after start", next: "both are milliseconds since 1970")
        }
        let first = WallTime(millisecondsSince1970: Int64(start.rounded(.up)))
        return (start, try limited(first..<WallTime(millisecondsSince1970: Int64(end.rounded(.down)) + 1)))
    }
}

extension Request {
    /// Parses a time as Firefox sends it: fractional milliseconds since 1970 (firefox-devtools/profiler,
    /// src/actions/receive-profile.ts, `getExternalPowerTracks`).
    fileprivate func milliseconds(_ name: String) throws -> Double {
        let text = uri.queryParameters[name[...]].map(String.init) ?? ""
        // Up to the year 9999.
        guard let number = Double(text), (0...253_402_300_799_999).contains(number) else {
            throw GatewayError(
                .badRequest, "\(name) cannot be \"\(text.visible)\"",
                next: "Firefox asks for ?start=…&end=… in milliseconds since 1970")
        }
        return number
    }
}
