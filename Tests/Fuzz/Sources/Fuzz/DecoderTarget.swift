import Domain
import MeterCodec

/// A decoder, and what it promises on any bytes at all.
struct DecoderTarget: Sendable {
    let name: String
    /// As many bytes may wait for the rest of their frame, and no more.
    let longestPending: Int
    /// A fresh decoder; true: one that enforces check sums.
    let make: @Sendable (Bool) -> any FrameDecoder
    /// Puts the check sums of a stream right.
    let repair: @Sendable ([UInt8]) -> [UInt8]
    /// Streams of a simulator.
    let streams: @Sendable () -> [[UInt8]]
    /// The same as `repair` takes them.
    var bareStreams: @Sendable () -> [[UInt8]] = { [] }
    /// Whether what begins here speaks against a message around it, also when only its first byte lies inside.
    var speaksAgainst: @Sendable (ArraySlice<UInt8>) -> Bool = { _ in false }

    static let all = [
        DecoderTarget(
            name: "um", longestPending: UMBlock.length - 1, make: { UMDecoder(enforcesTrailer: $0) },
            repair: Repair.um, streams: Streams.um),
        DecoderTarget(
            name: "tc66", longestPending: TC66Block.length - 1, make: { TC66Decoder(enforcesChecks: $0) },
            repair: Repair.tc66, streams: Streams.tc66, bareStreams: Streams.tc66Plain),
        DecoderTarget(
            name: "fnirsi-usb", longestPending: FNIRSIUSBPacket.length - 1,
            make: { FNIRSIUSBDecoder(enforcesCheck: $0) }, repair: Repair.fnirsiUSB, streams: Streams.fnirsiUSB),
        // A frame of an unknown type has at most 32 bytes of payload.
        DecoderTarget(
            name: "fnirsi-ble", longestPending: 32 + FNIRSIBLEFrame.overhead - 1,
            make: { FNIRSIBLEDecoder(enforcesCheck: $0) }, repair: Repair.fnirsiBLE, streams: Streams.fnirsiBLE),
        // Behind the longest message, the two lists of a PD trace of up to 255 bytes may be looked for.
        DecoderTarget(
            name: "km003c", longestPending: KM003CFraming.longest + 512,
            make: { KM003CDecoder(side: .both, enforcesChecks: $0) }, repair: Repair.km003c, streams: Streams.km003c,
            speaksAgainst: Self.isMeasurements),
        DecoderTarget(
            name: "km003c-meter", longestPending: KM003CFraming.longest + 512,
            make: { KM003CDecoder(side: .meter, enforcesChecks: $0) }, repair: Repair.km003c, streams: Streams.km003c,
            speaksAgainst: Self.isMeasurements),
        DecoderTarget(
            name: "km003c-transfer", longestPending: KM003CFraming.longest + 512,
            make: { KM003CDecoder(side: .transfer, enforcesChecks: $0) }, repair: Repair.km003c,
            streams: Streams.km003c,
            speaksAgainst: Self.isMeasurements),
        DecoderTarget(
            name: "atorch", longestPending: AtorchReport.length - 1, make: { AtorchDecoder(enforcesCheck: $0) },
            repair: Repair.atorch, streams: Streams.atorch),
        DecoderTarget(
            name: "witrn", longestPending: WITRNReport.length - 1, make: { WITRNDecoder(enforcesChecks: $0) },
            repair: Repair.witrn, streams: Streams.witrn),
        DecoderTarget(
            name: "ct3", longestPending: CT3Framing.payloadLengths.upperBound + CT3Framing.overhead - 1,
            make: { CT3Decoder(enforcesChecks: $0) }, repair: Repair.ct3, streams: Streams.ct3),
        DecoderTarget(
            name: "zy1280", longestPending: ZY1280Report.length - 1, make: { ZY1280Decoder(enforcesCheck: $0) },
            repair: Repair.zy1280, streams: Streams.zy1280),
        // Their reports have no check that could be put right.
        DecoderTarget(
            name: "km001pro", longestPending: KM001Report.length - 1, make: { _ in KM001Decoder(.km001Pro) },
            repair: { $0 }, streams: Streams.km001Pro),
        DecoderTarget(
            name: "acd15p", longestPending: KM001Report.length - 1, make: { _ in KM001Decoder(.acd15p) },
            repair: { $0 }, streams: Streams.acd15p),
        DecoderTarget(
            name: "fl001", longestPending: FL001Report.length - 1, make: { FL001Decoder(enforcesCheck: $0) },
            repair: Repair.fl001, streams: Streams.fl001),
        // Its samples have no check. The text of its metadata may wait for its end.
        DecoderTarget(
            name: "ppk2", longestPending: PPK2Metadata.lengthMax, make: { _ in PPK2Decoder() }, repair: { $0 },
            streams: Streams.ppk2),
        DecoderTarget(
            name: "lines", longestPending: LineDecoder.lengthMax, make: { LineDecoder(.usual, enforcesCheck: $0) },
            repair: { $0 }, streams: Streams.lines),
        DecoderTarget(
            name: "lines-checked", longestPending: LineDecoder.lengthMax,
            make: { LineDecoder(Streams.columns, enforcesCheck: $0) }, repair: Repair.lines,
            streams: { Streams.lines(Streams.columns) }),
        DecoderTarget(
            name: "lines-json", longestPending: LineDecoder.lengthMax,
            make: { LineDecoder(Streams.json, enforcesCheck: $0) }, repair: { $0 },
            streams: { Streams.lines(Streams.json) }),
        DecoderTarget(
            name: "dl24", longestPending: AtorchReport.length - 1,
            make: { AtorchDecoder(enforcesCheck: $0, from: .loadAndHost) }, repair: Repair.atorch, streams: Streams.dl24
        ),
    ]

    var target: FuzzTarget {
        FuzzTarget(name: name, run: run, seeds: seeds)
    }

    private func run(_ input: [UInt8]) {
        guard let first = input.first else { return }
        let mode = FuzzTarget.Mode(first)
        let rest = Array(input.dropFirst())
        let stream = mode.repairs ? repair(rest) : rest

        let whole = decode(stream, piece: max(1, stream.count), enforcing: !mode.isUnchecked)
        let pieces = decode(stream, piece: mode.pieceLength, enforcing: !mode.isUnchecked)

        if isOverlapped(stream, whole, pieces) { return }
        promise(whole.frames == pieces.frames, "the same frames in pieces of \(mode.pieceLength) as at once")
        promise(whole.pending == pieces.pending, "as much waits in pieces of \(mode.pieceLength) as at once")
    }

    /// Measurements of a KM003C have no check sum, so their decoder refuses a message in whose last bytes the next one
    /// begins, if enough of that is there to see. Waiting for it would hold back good measurements, so in pieces such a
    /// message passes; that much may differ.
    private func isOverlapped(_ stream: [UInt8], _ whole: Outcome, _ pieces: Outcome) -> Bool {
        stream.indices.contains { place in
            speaksAgainst(stream[place...]) && !(whole.starts.contains(place) && pieces.starts.contains(place))
        }
    }

    /// The header of a message whose first payload is measurements.
    private static func isMeasurements(_ bytes: ArraySlice<UInt8>) -> Bool {
        let payload = bytes.dropFirst(KM003CHeader.length).prefix(KM003CPayloadHeader.length)
        return bytes.first == KM003CKind.data.rawValue
            && [KM003CADC.length, KM003CADC.shortLength].contains { size in
                [false, true].contains { hasNext in
                    payload.elementsEqual(KM003CPayloadHeader(.adc, hasNext: hasNext, size: size).bytes)
                }
            }
    }

    private struct Outcome {
        var frames: [[UInt8]] = []
        /// Where in the stream each frame begins.
        var starts: Set<Int> = []
        var skipped = 0
        var pending = 0
    }

    private func decode(_ stream: [UInt8], piece: Int, enforcing: Bool) -> Outcome {
        var decoder = make(enforcing)
        var outcome = Outcome()
        var framed = 0
        for begin in stride(from: 0, to: stream.count, by: piece) {
            decoder.append(Array(stream[begin..<min(begin + piece, stream.count)]))
            while let step = decoder.next() {
                switch step {
                case .frame(let frame):
                    outcome.frames.append(decoder.frameBytes)
                    outcome.starts.insert(framed + outcome.skipped)
                    framed += decoder.frameBytes.count
                    promise(!decoder.frameBytes.isEmpty, "a frame has bytes")
                    look(at: frame)
                case .skipped(let count, let error):
                    promise(count > 0, "a skip moves on")
                    promise(!error.description.isEmpty, "an error has words")
                    outcome.skipped += count
                }
            }
            promise(decoder.pendingCount <= longestPending, "no more than \(longestPending) bytes wait")
        }
        outcome.pending = decoder.pendingCount
        promise(
            framed + outcome.skipped + outcome.pending == stream.count, "each byte is framed, skipped or waiting, once")
        promise(decoder.reset() == outcome.pending, "a reset forgets what waited")
        promise(decoder.pendingCount == 0 && decoder.next() == nil, "nothing is left behind a reset")
        return outcome
    }

    /// Asks a frame everything it can be asked.
    private func look(at frame: Frame) {
        var direct: [Reading] = []
        frame.forEachReading { direct.append($0) }
        var boxed: [Reading] = []
        let content = frame.content
        content.forEachReading { boxed.append($0) }
        promise(direct == boxed, "both ways to a frame's readings lead to the same")
        for reading in direct {
            reading.forEach { quantity, value in
                promise(value.map { $0.isFinite && $0.magnitude < 1e12 } ?? true, "\(quantity) is a number")
            }
        }
        for group in content.groups {
            promise(group.charge_mAh.isFinite && group.energy_mWh.isFinite, "group \(group.index) has numbers")
        }
        for detail in content.details {
            if case .number(let number) = detail.value { promise(number.isFinite, "\(detail.key) is a number") }
        }
        _ = content.device
        _ = content.model
    }

    private func seeds() -> [[UInt8]] {
        let checked: [[UInt8]] = streams().flatMap { [[0x3F] + $0, [0x06] + $0] }
        let unchecked: [[UInt8]] = streams().prefix(1).map { [0x93] + $0 }
        return checked + unchecked + bareStreams().map { [0x50] + $0 }
    }
}
