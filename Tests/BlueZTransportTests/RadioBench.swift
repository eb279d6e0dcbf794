import BlueZTransport
import BluetoothCore
import Domain
import Gateway
import GatewayAPI
import Glibc
import LinuxIO
import MeterTestKit
import Synchronization
import Testing

/// Radios over a fake kernel, and what they tell.
struct RadioBench: Sendable {
    let loop: IOLoop
    let kernel: FakeKernel
    let radios: Radios
    let book: LogBook
    private let events: Events

    /// Hands events to the test one by one.
    private actor Events {
        private var iterator: AsyncStream<SightingEvent>.Iterator

        init(_ stream: AsyncStream<SightingEvent>) { iterator = stream.makeAsyncIterator() }

        func next() async -> SightingEvent? {
            var own = iterator
            let event = await own.next(isolation: self)
            iterator = own
            return event
        }
    }

    init(loop: IOLoop, kernel: FakeKernel, radios: Radios, book: LogBook, events: AsyncStream<SightingEvent>) {
        self.loop = loop
        self.kernel = kernel
        self.radios = radios
        self.book = book
        self.events = Events(events)
    }

    func next() async -> SightingEvent? { await events.next() }

    /// Has the kernel do something.
    func perform(_ body: @escaping @Sendable (FakeKernel) -> Void) async throws {
        let kernel = kernel
        try await loop.perform { body(kernel) }
    }

    /// The one adapter, once it is as looked for.
    func status(where condition: (AdapterStatus) -> Bool) async throws -> AdapterStatus {
        let patience = Patience("the adapter is as looked for")
        while true {
            if let status = await radios.adapters().first, condition(status) { return status }
            try await patience.turn()
        }
    }
}

/// Lends radios that run over a fake kernel with these adapters, and ends them afterwards. Times are short.
///
/// - Parameter bus: where bluetoothd may be found, whose agent they then are.
func withRadios(
    _ adapters: [UInt16: FakeKernel.Adapter], timing: AdapterTiming = AdapterTiming(), rest: Duration = .zero,
    search: SearchMode = .always,
    bus: String? = nil, files: AdapterFiles = AdapterFiles(), _ body: (RadioBench) async throws -> Void
) async throws {
    try await withLoop { loop in
        let (kernel, socket) = try FakeKernel.make(on: loop)
        try await loop.perform {
            kernel.adapters = adapters
            try kernel.begin()
        }
        var configuration = Radios.Configuration()
        configuration.timing = timing
        configuration.timing.roundMin = .zero
        // Rests are the machine's, and have tests of their own.
        configuration.timing.rest = rest
        configuration.search = search
        configuration.reopenInterval = .milliseconds(1)
        configuration.isAgent = bus != nil
        configuration.busAddress = bus
        configuration.files = files
        // The first socket is there; a later one is that of a kernel with the same adapters.
        let first = Mutex<FileDescriptor?>(socket)
        let later = Mutex<[FakeKernel]>([])
        configuration.openSocket = { () throws(Errno) in
            if let socket = first.withLock({ $0.take() }) { return socket }
            guard let (kernel, socket) = try? FakeKernel.make(on: loop) else { throw Errno(EMFILE) }
            kernel.adapters = adapters
            try? kernel.begin()
            later.withLock { $0.append(kernel) }
            return socket
        }
        let book = LogBook()
        let radios = Radios(loop: loop, configuration: configuration, logger: book.logger)
        let (stream, continuation) = AsyncStream.makeStream(of: SightingEvent.self)
        let running = Task { await radios.run { continuation.yield($0) } }
        defer { continuation.finish() }
        do {
            try await body(RadioBench(loop: loop, kernel: kernel, radios: radios, book: book, events: stream))
        } catch {
            running.cancel()
            await running.value
            throw error
        }
        running.cancel()
        await running.value
        try await loop.perform {
            kernel.end()
            for kernel in later.withLock({ $0 }) { kernel.end() }
        }
    }
}
