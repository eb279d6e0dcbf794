import Domain
import MeterCodec

struct MeterTimes {
    let expectedInterval: Duration?
    let rhythm: ExchangeRhythm
    let staleAfter: Duration
    private let connectTimeout: Duration

    /// - Parameter requestInterval: time between requests to a meter that samples by its own clock; nil for others.
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

    func timing(from timing: ConnectionTiming) -> ConnectionTiming {
        var timing = timing
        timing.staleAfter = staleAfter
        timing.silenceTimeout = max(.seconds(15), staleAfter * 2)
        timing.connectTimeout = connectTimeout
        return timing
    }
}

extension LineSettings {
    init(of profile: MeterProfile) {
        self.init(baudRate: profile.baudRate, writeGap: profile.commandSpacing)
    }
}

extension Duration {
    /// Maximum time to open a serial or USB port.
    fileprivate static let cableConnect = Duration.seconds(10)
    /// Maximum time to find a radio meter, pair and discover services; or to reach a network board and get its greeting
    /// and sensors.
    fileprivate static let farConnect = Duration.seconds(30)
}
