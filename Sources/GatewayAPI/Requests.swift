import Domain

/// `POST /v1/meters/{meter}/connect`.
package struct ConnectRequest: Codable, Hashable, Sendable {
    /// How long to wait for data; null or absent for not at all.
    package var wait_ms: Int64?
    /// Only for a meter named by a device path: the model behind that port.
    package var model: String?
    /// Only for a meter named by a device path: the meter's own id, if known.
    package var id: String?
    /// Take the meter over from whoever has it.
    package var takeover: Bool?
    /// How long to wait in line if another host has it; null or absent for not at all.
    package var queue_ms: Int64?
    /// The longest that all waits may take together, in line and for data; null or absent for the sum of their own.
    package var timeout_ms: Int64?
    /// Do not ask the cloud. The meter is then used beside its holder, which nobody can see.
    package var no_lease: Bool?
    /// The kind of link to use from now on if the meter has several: `serial`, `hid`, `bulk`, `network`, `ble`, `spp`, or `any`
    /// for the usual order. Absent keeps the present choice.
    package var over: String?
    /// A person has confirmed: for a meter that this host has never met, or for another take-over of one that was not
    /// heard after the last.
    package var yes: Bool?

    package init(wait_ms: Int64? = nil, model: String? = nil, id: String? = nil, over: String? = nil) {
        self.wait_ms = wait_ms
        self.over = over
        self.model = model
        self.id = id
    }
}

/// `POST /v1/meters/{meter}/commands`.
package struct CommandRequest: Codable, Hashable, Sendable {
    /// As on the command line: `next-screen`, `brightness` …
    package var command: String
    package var number: Int?

    package init(command: String, number: Int? = nil) {
        self.command = command
        self.number = number
    }
}

/// `PATCH /v1/meters/{meter}/settings`.
package struct SettingsRequest: Codable, Hashable, Sendable {
    /// By key. Null resets a setting to its default.
    package var settings: [String: String?]

    package init(settings: [String: String?]) { self.settings = settings }
}

/// `GET /v1/meters/{meter}/settings`, and the answer to a change.
package struct SettingsBody: Codable, Hashable, Sendable {
    package var settings: [String: String?]
    /// Only in the answer to a GET: every possible setting, set or not.
    package var known: [String]?
    /// Only in the answer to a GET: the settings that the meter has, each with its default and its origin.
    package var details: [SettingBody]?
    /// Only in the answer to a change: commands that do once what a changed setting keeps, by setting; nil for none.
    package var once: [String: String]?
    /// Only in the answer to a change: true where no other host hears of it, as this one may only look. Nil otherwise.
    package var stays_here: Bool?

    package init(
        settings: [String: String?], known: [String]? = nil, details: [SettingBody]? = nil,
        once: [String: String]? = nil, stays_here: Bool? = nil
    ) {
        self.settings = settings
        self.known = known
        self.details = details
        self.once = once
        self.stays_here = stays_here
    }
}

/// One line of `GET /v1/meters/{meter}/traffic`, and of a capture file.
package struct TrafficLine: Codable, Hashable, Sendable {
    /// Seconds since the capture began.
    package var t: Double
    /// `in`: from the meter. `out`: to it.
    package var dir: String
    package var hex: String
    /// Messages dropped before this one because the client was too slow; absent if none were.
    package var missed: Int?

    package init(t: Double, dir: String, hex: String, missed: Int? = nil) {
        self.t = t
        self.dir = dir
        self.hex = hex
        self.missed = missed
    }
}

/// The first line of a capture file.
package struct CaptureHeader: Codable, Hashable, Sendable {
    /// Always `meter-capture`.
    package var format: String
    package var version: Int
    package var meter: String
    package var model: String?
    /// RFC 3339.
    package var started: String

    package init(meter: String, model: String?, started: String) {
        format = "meter-capture"
        version = 1
        self.meter = meter
        self.model = model
        self.started = started
    }
}

/// One meter in `GET /v1/scan`: present now, whether wanted or not.
package struct ScanEntry: Codable, Hashable, Sendable {
    package var id: String
    @NullCodable package var model: String?
    @NullCodable package var name: String?
    /// The link in use, or the one that would be used.
    package var transport: String
    package var port: String
    /// All kinds of link that lead to it now; the one that would be used first comes first.
    package var transports: [String]
    /// Signal strength when last heard, in dBm; null over a cable, or if the adapter does not report it.
    @NullCodable package var rssi: Int?
    /// The address of this host's adapter that hears it; null over a cable.
    @NullCodable package var adapter: String?
    package var state: String
    /// The name of the host that has it; null if none has, or this host belongs to no cloud.
    @NullCodable package var holder: String?
    /// What is unusual about its address: `group-bit`, `locally-administered`. That does not mean anything is wrong
    /// with the meter.
    package var flags: [String] = []

    package init(id: String, model: String?, name: String?, transport: String, port: String, state: String) {
        self.id = id
        self.model = model
        self.name = name
        self.transport = transport
        self.port = port
        self.state = state
        transports = [transport]
    }
}

/// `GET /v1/version`.
package struct VersionBody: Codable, Hashable, Sendable {
    package var version: String
    package var commit: String
    package var build: String

    package init(version: String, commit: String, build: String) {
        self.version = version
        self.commit = commit
        self.build = build
    }
}

/// The body of every response with a status of 400 or above.
package struct ErrorBody: Codable, Hashable, Sendable {
    /// For programs; the closed list is `ErrorCode`.
    package var code: ErrorCode
    /// What failed, with which value.
    package var message: String
    /// What to do next.
    package var next: String

    package init(code: ErrorCode, message: String, next: String) {
        self.code = code
        self.message = message.bounded
        self.next = next.bounded
    }
}

/// Why a request failed. The raw value is what JSON carries.
package enum ErrorCode: String, Codable, Sendable, CaseIterable {
    case badRequest = "bad-request"
    case noSuchMeter = "no-such-meter"
    case ambiguousMeter = "ambiguous-meter"
    case modelUnknown = "model-unknown"
    case notConnected = "not-connected"
    case refused
    case timedOut = "timed-out"
    /// Another host has the meter, and the message names it.
    case held
    case permission
    /// The web page is open to the network, and the client has not logged in.
    case notAuthenticated = "not-authenticated"
    /// Too many attempts; the message says how long to wait.
    case tooManyRequests = "too-many-requests"
    case store
    case shuttingDown = "shutting-down"
    case notFound = "not-found"
    case internalError = "internal"
}
