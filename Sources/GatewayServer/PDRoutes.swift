import Domain
package import Gateway
import GatewayAPI
package import Hummingbird
import MeterCodec
import NIOCore

/// USB Power Delivery traffic: `/v1/meters/{meter}/pd`.
package struct PDRoutes: RouteGroup {
    private let directory: MeterDirectory

    package init(directory: MeterDirectory) { self.directory = directory }

    package func add(to api: RouterGroup<BasicRequestContext>) {
        api.get("meters/:meter/pd") { request, context in
            let reference = try MeterRoutes.reference(in: context)
            let after = try request.number("after", in: 0...Int(Int32.max)) ?? 0
            let format: Format = try request.choice("format") ?? .json
            let session = try await directory.session(reference)
            let (timeline, isListening) = try await session.heardPD()
            switch format {
            case .json:
                return try JSON.response(
                    PDBody(timeline, after: after, of: session.id, isListening: isListening))
            case .text:
                let text = PDText.lines(timeline, after: after, of: session.id).joined()
                return Self.file(ByteBuffer(string: text), "text/plain; charset=utf-8", "pd-\(session.id).txt")
            case .pcapng:
                let bytes = PDCapture.file(of: timeline.entries(after: after))
                // pcapng has no registered media type.
                return Self.file(ByteBuffer(bytes: bytes), "application/octet-stream", "pd-\(session.id).pcapng")
            }
        }
    }

    private enum Format: String, CaseIterable { case json, text, pcapng }

    private static func file(_ content: ByteBuffer, _ type: String, _ name: String) -> Response {
        var headers: HTTPFields = [.contentType: type, .cacheControl: "no-store"]
        headers.saveAs(name)
        return Response(status: .ok, headers: headers, body: ResponseBody(byteBuffer: content))
    }
}

extension PDBody {
    init(_ timeline: PDTimeline, after: Int, of meter: MeterID, isListening: Bool) {
        let grown = timeline.growing.flatMap { $0.number <= after && $0.more > 0 ? $0 : nil }
        let entries = [grown].compactMap { $0 } + timeline.entries(after: after)
        self.init(
            meter: meter.description, listening: isListening, entries: entries.map { PDEntryBody($0) },
            last: timeline.count, dropped: timeline.dropped, entries_max: PDTimeline.longest)
        attached = timeline.isAttached
        line = timeline.latest.map { Line($0.level, at: $0.time) }
        contract = timeline.contract.map { Contract($0, since: timeline.agreedAt) }
        capabilities = timeline.lastOffers?.offers.map { PDObjectBody($0) } ?? []
        (capabilities_at, capabilities_current) = (timeline.lastOffers?.time.description, !timeline.offers.isEmpty)
    }
}

extension PDBody.Line {
    fileprivate init(_ level: PDLevel, at time: WallTime? = nil) {
        self.init(
            time: time?.description, voltage_V: level.voltage_mV.thousandth, current_A: level.current_mA.thousandth,
            cc1_V: level.cc1_mV.thousandth, cc2_V: level.cc2_mV.thousandth)
    }
}

extension PDBody.Contract {
    fileprivate init(_ contract: PDContract, since: WallTime?) {
        self.init(text: contract.description, position: contract.position)
        voltage_V = contract.voltage_mV?.thousandth
        current_A = contract.current_mA?.thousandth
        power_W = contract.power_mW?.thousandth
        self.since = since?.description
    }
}

extension PDObjectBody {
    fileprivate init(_ offer: PDOffer) {
        let object = offer.object
        self.init(
            position: offer.position, kind: object.kind.rawValue, text: object.description, abilities: offer.abilities)
        let limits = object.limits
        voltage_min_V = limits.voltage_mV?.lowerBound.thousandth
        voltage_max_V = limits.voltage_mV?.upperBound.thousandth
        current_max_A = limits.current_mA?.thousandth
        power_max_W = limits.power_mW?.thousandth
    }
}

extension PDEntryBody {
    init(_ entry: PDEntry) {
        self.init(
            number: entry.number, time: entry.time.description, clock_ms: entry.milliseconds, kind: entry.kind.name,
            text: entry.words, line: PDBody.Line(entry.level))
        (more, until) = (entry.more, entry.until?.description)
        if case .message(let heard) = entry.kind { message = Message(heard) }
    }
}

extension PDEntryBody.Message {
    fileprivate init(_ heard: PDEntry.Heard) {
        let header = heard.message.header
        self.init(
            name: header?.title ?? "bytes", sop: heard.message.sopName,
            objects: heard.meaning.offers.map { PDObjectBody($0) }, acknowledges: header?.isAcknowledgement ?? false,
            resent: heard.isResent, bytes: Hex.encode(heard.message.bytes))
        let parties = heard.message.parties
        (from, to) = (parties?.sender.rawValue, parties?.receiver.rawValue)
        (id, revision) = (header?.id, header?.revision)
        meaning = heard.meaning.words
    }
}

extension Int {
    fileprivate var thousandth: Double { Double(self) / 1000 }
}
