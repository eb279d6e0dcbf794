import Domain
import MeterCodec

/// The times that follow from the model and from a person's settings.
struct MeterTimes {
    /// How often readings should come.
    let expectedInterval: Duration?
    let rhythm: ExchangeRhythm
    /// Without a valid frame for so long, the meter has no data.
    let staleAfter: Duration
    private let connectTimeout: Duration

    /// - Parameter requestInterval: how often a meter that samples by its own clock has to be asked; nil for one that does not.
    init(
        _ profile: MeterProfile, _ settings: MeterSettings, sampling requestInterval: Duration? = nil, isFar: Bool
    ) {
        let forced = requestInterval
        let (expected, requestInterval, isAnswered): (Duration?, Duration?, Bool) =
            switch profile.rhythm {
            case .poll(let interval, let shortest):
                {
                    let interval = forced ?? settings.pollInterval.map { max($0, shortest) } ?? interval
                    return (interval, interval, true)
                }()
            case .rounds(let expected, let step): (expected, step, true)
            case .push(let expected, let keepAlive): (expected, keepAlive, false)
            }
        expectedInterval = expected
        rhythm = ExchangeRhythm(
            requestInterval: requestInterval, requestsAreAnswered: isAnswered, answerTimeout: profile.answerTimeout,
            commandSpacing: profile.commandSpacing)
        staleAfter = settings.staleAfter ?? max(.seconds(3), (expected ?? .seconds(1)) * 3)
        connectTimeout = isFar ? .farConnect : .cableConnect
    }

    /// The times of a connection, instead of those in `timing`.
    func timing(from timing: ConnectionTiming) -> ConnectionTiming {
        var timing = timing
        timing.staleAfter = staleAfter
        timing.silenceTimeout = max(.seconds(15), staleAfter * 2)
        timing.connectTimeout = connectTimeout
        return timing
    }
}

extension LineSettings {
    /// - Parameter profile: of the meter behind the line.
    init(of profile: MeterProfile) {
        self.init(baudRate: profile.baudRate, writeGap: profile.commandSpacing)
    }
}

extension Duration {
    /// A port that has not opened in this time will not open.
    fileprivate static let cableConnect = Duration.seconds(10)
    /// Finding the meter's radio again, pairing, and discovering its services, one after the other; or a board's name in the
    /// network, its greeting and its sensors.
    fileprivate static let farConnect = Duration.seconds(30)
}
