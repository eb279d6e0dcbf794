package import Domain

extension KM003CMessage: FrameContent {
    /// Nil, because the KM003C and KM002C send the same bytes.
    package var model: ModelName? { nil }

    /// Calls `body` for each queue sample, or for the measurements of a message without a queue. In a message with
    /// both, the newest sample gets temperature and supply voltage from the measurements.
    package func forEachReading(_ body: (Reading) -> Void) { forEachSample { reading, _ in body(reading) } }

    /// Passes queue samples with their sequence numbers. While the graph (the meter's own sampling) runs, measurements
    /// without samples are dropped, because the queue later delivers that time's samples.
    package func forEachSample(_ body: (Reading, _ tick: UInt16?) -> Void) {
        guard !payloads.isEmpty, let queue = payload(.queue), queueCount > 0 else {
            if let adc, graphRate == nil { body(adc.reading, nil) }
            return
        }
        let lineStep = graphRate.map { KM003CLineStep($0) } ?? KM003CLineStep(sequences: self)
        queue.withUnsafeBytes { raw in
            for number in 0..<queueCount {
                let sample = KM003CQueueSample(raw, number: number)
                var reading = sample.reading(lineStep: lineStep)
                if let adc, number == queueCount - 1 {
                    reading[.temperature] = adc.celsius
                    reading[.supplyVoltage] = adc.supplyVoltage
                }
                body(reading, sample.sequence)
            }
        }
    }

    /// Nil while the rate of the queue is unknown.
    package var sampleTicks: SampleTicks? {
        guard let graphRate, !payloads.isEmpty, case let count = queueCount, let oldest = queueSample(0),
            let newest = queueSample(count - 1)
        else { return nil }
        return SampleTicks(
            oldest: oldest.sequence, newest: newest.sequence, step: graphRate.sequenceStep, count: count)
    }

    package var powerDelivery: PDReport? { payloads.isEmpty ? nil : pdStatus?.report }

    package var details: [FrameDetail] {
        switch content {
        case .memoryPiece(let length):
            [FrameDetail("message", .text("memory_piece")), FrameDetail("length", .integer(length))]
        case .queueRest:
            [FrameDetail("message", .text("queue_rest"))] + payloads.flatMap(payloadDetails)
        case .message(let kind):
            [FrameDetail("message", .text(kind.name)), FrameDetail("id", .integer(Int(id)))]
                + requestDetails(kind) + memoryDetails + (adc?.details ?? []) + payloads.flatMap(payloadDetails)
        }
    }

    private func requestDetails(_ kind: KM003CKind) -> [FrameDetail] {
        switch kind {
        case .getData:
            let names = KM003CAttributes(rawValue: parameter).singles.compactMap(\.name)
            return [FrameDetail("attributes", .text(names.joined(separator: " ")))]
        case .startGraph:
            let rate = KM003CRate(index: parameter)
            return [FrameDetail("graph_rate_sps", rate.map { .integer($0.samplesPerSecond) } ?? .unknown)]
        default:
            return []
        }
    }

    private var memoryDetails: [FrameDetail] {
        memoryRange.map {
            [FrameDetail("address", .integer(Int($0.address))), FrameDetail("size", .integer(Int($0.size)))]
        } ?? []
    }

    private func payloadDetails(_ payload: KM003CPayload) -> [FrameDetail] {
        switch payload.attribute {
        case .queue:
            let samples = queueSamples
            let sequences = samples.map { String($0.sequence) }.joined(separator: " ")
            return [
                FrameDetail("queue_count", .integer(samples.count)),
                FrameDetail("queue_sequences", .text(sequences)),
            ]
        case .settings:
            return settings?.details ?? [rawDetail(payload)]
        case .pd:
            let agreed = contract.map { [FrameDetail.told("pd_contract", .text($0.description))] } ?? []
            return pdStatus.map { $0.details + agreed } ?? [rawDetail(payload)]
        case .pdTrace:
            return pdTrace?.details ?? [rawDetail(payload)]
        case .logCatalogue:
            let entries = logCatalogue ?? []
            return [FrameDetail("log_count", .integer(entries.count))]
                + entries.enumerated().map { FrameDetail("log_\($0.offset + 1)", .text($0.element.description)) }
        default:
            return [rawDetail(payload)]
        }
    }

    private func rawDetail(_ payload: KM003CPayload) -> FrameDetail {
        FrameDetail("payload_\(payload.attribute.name ?? "unknown")", .text(Hex.encode(payload.bytes)))
    }
}
