import CFuzzer
import Glibc

// Fuzz TARGET [libFuzzer flags and folders]   looks for inputs that break a promise of the target
// Fuzz TARGET FILE                            tries one input again
// Fuzz seeds FOLDER                           writes the inputs to start from, a folder for each target
// Fuzz list                                   names the targets

switch CommandLine.arguments.dropFirst().first {
case "list":
    for target in FuzzTarget.all { print(target.name) }
case "seeds":
    guard CommandLine.arguments.count > 2 else { fail("name the folder that the seeds go to") }
    for target in FuzzTarget.all { Seeds.write(target, to: "\(CommandLine.arguments[2])/\(target.name)") }
case let name? where FuzzTarget.selected != nil:
    // libFuzzer sees the program's name and what comes behind the target's.
    var arguments = [strdup(name)]
    for argument in CommandLine.arguments.dropFirst(2) { arguments.append(strdup(argument)) }
    arguments.append(nil)
    var count = CInt(arguments.count - 1)
    let code = arguments.withUnsafeMutableBufferPointer { buffer in
        var start = buffer.baseAddress
        return LLVMFuzzerRunDriver(&count, &start) { bytes, length in
            FuzzTarget.selected?.run(Array(UnsafeBufferPointer(start: bytes, count: length)))
            return 0
        }
    }
    exit(code)
default:
    fail("name a target: \(FuzzTarget.all.map(\.name).joined(separator: ", "))")
}
