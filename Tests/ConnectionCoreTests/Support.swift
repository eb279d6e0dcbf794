import Domain

extension MonotonicTime {
    static func seconds(_ seconds: Int) -> Self { Self(sinceOrigin: .seconds(seconds)) }
    static func milliseconds(_ milliseconds: Int) -> Self { Self(sinceOrigin: .milliseconds(milliseconds)) }
}
