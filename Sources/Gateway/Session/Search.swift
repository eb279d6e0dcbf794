import Domain

/// A search for a meter that is not heard here because another host is connected to it: a Bluetooth LE meter with a
/// connection does not advertise (Docs/Operating.md#a-meter-that-is-not-heard-here). So the zone is asked first, and
/// the meter looked for while the lease is kept. Only a person's command starts one; what a host resumes by itself
/// waits until the meter is heard.
struct Search: Sendable {
    /// Until the zone answers, when asking ends; from then on, when the lease is given back.
    var endsAt: MonotonicTime
    /// How long to look for the meter. Nil while its lease is being asked for.
    var patience: Duration?
}
