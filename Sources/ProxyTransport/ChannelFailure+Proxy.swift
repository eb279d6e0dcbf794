import Domain
import ESPHomeCore

extension ChannelFailure {
    static func proxied(_ meter: MACAddress, over proxy: String, _ end: ProxyLinkEnd) -> ChannelFailure {
        switch end {
        case .noSlot:
            ChannelFailure(
                .busy, "\(proxy) has no free slot for \(meter). Disconnect another meter, or add a proxy.")
        case .timedOut:
            ChannelFailure(
                .unreachable,
                "\(meter) does not answer \(proxy): it is out of range, switched off, or connected to a phone or another host."
            )
        case .failed(let reason):
            ChannelFailure(
                .unreachable,
                "\(proxy) heard \(meter) and could not connect to it (reason \(reason)). Move them nearer to each other."
            )
        case .noServices:
            ChannelFailure(
                .unreachable,
                "\(meter) is connected to \(proxy) and did not list its services. Switch the meter off and on.")
        case .lost(let reason):
            ChannelFailure(
                .lost,
                "The link of \(proxy) to \(meter) is gone (reason \(reason)): it was switched off or went out of range."
            )
        case .proxyGone:
            ChannelFailure(.lost, "The link to \(meter) is gone: \(proxy), which bore it, is not connected.")
        }
    }
}
