import CloudAPI
import Foundation
import Testing

/// Whatever is read of a text that was cut or changed is JSON, and means that.
func sabotage<Body: ReadBody & Equatable>(_ type: Body.Type, as text: [UInt8]) {
    for length in 0..<text.count { #expect(Body(text: text.prefix(length)) == nil) }
    #expect(Body(text: text + [UInt8(ascii: "}")]) == nil)
    for position in text.indices {
        for byte in [UInt8(ascii: "\""), UInt8(ascii: "0"), UInt8(ascii: ","), UInt8(ascii: "]"), 0xFF] {
            var changed = text
            changed[position] = byte
            guard let read = Body(text: changed) else { continue }
            let decoded = try? JSONDecoder().decode(Body.self, from: Data(changed))
            #expect(read == decoded, "\(String(decoding: changed, as: UTF8.self))")
        }
    }
}
