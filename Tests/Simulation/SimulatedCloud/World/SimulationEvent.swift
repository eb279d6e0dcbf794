import Domain

/// Under what a request was decided.
struct Decision {
    /// How often the store had gone back.
    var generation: Int
    var policy: LeasePolicy
}

/// What can happen next. Events of a process name its run, and are dropped by a later one.
enum SimulationEvent {
    // At a host.
    case wake(host: Int, run: Int)
    case user(host: Int, run: Int)
    case response(host: Int, run: Int, call: UInt64, CloudResponse, Decision)
    case callFailed(host: Int, run: Int, call: UInt64)
    case streamed(host: Int, run: Int, stream: UInt64, StreamEvent)
    case streamBroke(host: Int, run: Int, stream: UInt64)
    case stored(host: Int, run: Int, SyncOperation)
    case channelOpened(host: Int, run: Int, meter: Int, channel: UInt64)
    case channelClosed(host: Int, run: Int, meter: Int, channel: UInt64)
    case wantAgain(host: Int, run: Int, meter: Int)

    // At the server.
    case request(CloudCall)
    case flush(run: Int)
    case ping(run: Int)
    case settleLines(run: Int)

    // Of meters that are watched.
    case relay(RelayOccasion)

    // By nobody in the simulation.
    case fault
    case hostResumes(Int)
    case hostStarts(Int)
    case serverResumes
    case serverStarts
    case linkHeals(Int)
    case hostCalendarRight(Int)
    case serverCalendarRight
    case healEverything
    case lookAtEnd

    /// Whose process it concerns, if a host's.
    var host: (index: Int, run: Int)? {
        switch self {
        case .wake(let host, let run), .user(let host, let run), .response(let host, let run, _, _, _),
            .callFailed(let host, let run, _), .streamed(let host, let run, _, _), .streamBroke(let host, let run, _),
            .stored(let host, let run, _), .channelOpened(let host, let run, _, _),
            .channelClosed(let host, let run, _, _), .wantAgain(let host, let run, _):
            (host, run)
        case .relay(let occasion): occasion.host
        case .request, .flush, .ping, .settleLines, .fault, .hostResumes, .hostStarts, .serverResumes, .serverStarts,
            .linkHeals, .hostCalendarRight, .serverCalendarRight, .healEverything, .lookAtEnd:
            nil
        }
    }
}
