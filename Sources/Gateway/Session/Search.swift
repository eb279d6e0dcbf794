import MeterModel

/// A person wants a meter that is not heard here, because another host is connected to it: a Bluetooth LE meter with a
/// connection does not advertise (Docs/Operating.md#a-meter-that-is-not-heard-here). So the zone is asked first,
/// and the meter looked for while the lease is kept. Only a person's command does this; what a host resumes by
/// itself waits until the meter is heard.
struct Search: Sendable {
    /// Until the zone's answer, the moment at which asking ends; then the one at which the lease is given back.
    var endsAt: MonotonicTime
    /// How long the meter is looked for; nil while its lease is asked for.
    var patience: Duration?
}
