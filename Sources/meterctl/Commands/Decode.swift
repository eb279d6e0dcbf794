import ArgumentParser
import Domain
import FoundationEssentials
import Glibc
import MeterCodec
import ProgramKit

struct Decode: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Decode raw bytes of a meter, with no hardware and no daemon.",
        discussion:
            "The input is hex (blanks and line ends allowed) or binary, with one or more frames. Exit code 1 if no "
            + "frame is found.\nModels: \(MeterCatalogue.standard.decoderNames.joined(separator: ", "))."
    )

    @Option(help: "Model of the meter, or name of a decoder.", completion: .decoders)
    var model: String
    @Argument(help: "File to read, or - for standard input.", completion: .file())
    var file = "-"
    @Flag(help: "Print one JSON object per frame.")
    var json = false
    @Flag(help: "Also decode and report frames with a wrong checksum, such as frames edited by hand.")
    var unchecked = false

    func run() throws {
        guard var decoder = MeterCatalogue.standard.decoder(named: model, enforcingChecks: !unchecked) else {
            throw CommandFailure(
                .usage, "no decoder is called \"\(model)\"",
                next: MeterCatalogue.standard.decoderNames.suggestion(
                    for: model, "the models are \(MeterCatalogue.standard.decoderNames.joined(separator: ", "))"))
        }
        if unchecked { Terminal.talk("check sums are not enforced") }
        decoder.append(try input())
        var frames = 0
        var firstError: CodecError?
        while let step = decoder.next() {
            switch step {
            case .frame(let frame):
                frames += 1
                try show(frame, raw: decoder.frameBytes, number: frames)
            case .skipped(let count, let error):
                firstError = firstError ?? error
                Terminal.talk("\(count) bytes skipped: \(error)")
            }
        }
        let rest = decoder.pendingCount
        if rest > 0 { Terminal.talk("\(rest) bytes at the end are the beginning of a frame, whose rest is missing") }
        guard frames > 0 else {
            let cause = firstError ?? .truncated(have: rest)
            throw CommandFailure(.error, "no frame of \(model) in these bytes: \(cause)", next: "check the model")
        }
    }

    /// Returns the bytes that the input contains in hex; if it is not hex, the input itself.
    private func input() throws -> [UInt8] {
        let bytes = try InputFile.bytes(of: file)
        if let text = String(validating: bytes, as: UTF8.self), let decoded = Hex.decode(text), !decoded.isEmpty {
            return decoded
        }
        return bytes
    }

    private func show(_ frame: Frame, raw: [UInt8], number: Int) throws {
        if json { return Terminal.exact(try JSONOutput.line(DecodedFrame(frame, raw: raw))) }
        let content = frame.content
        Terminal.line("frame \(number): \(content.model?.displayName ?? model), \(raw.count) bytes")
        frame.forEachReading { reading in
            reading.forEach { quantity, value in
                Terminal.line("  \(quantity.key): \(Formatting.quantity(quantity, value))")
            }
        }
        for detail in content.details { Terminal.line("  \(detail.key): \(detail.value.text)") }
        for group in content.groups {
            let charge = Formatting.decimal(group.charge_mAh, digits: 0)
            Terminal.line(
                "  group \(group.index): \(charge) mAh, \(Formatting.decimal(group.energy_mWh, digits: 0)) mWh")
        }
    }
}

extension FrameDetail.Value {
    fileprivate var text: String {
        switch self {
        case .integer(let value): "\(value)"
        case .number(let value): "\(value)"
        case .text(let value): value
        case .flag(let value): value ? "yes" : "no"
        case .unknown: "–"
        }
    }
}
