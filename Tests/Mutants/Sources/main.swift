import Foundation

do {
    if CommandLine.arguments.dropFirst() == ["--self-test"] {
        try SelfTest.run()
        exit(0)
    }
    var options = try Options(Array(CommandLine.arguments.dropFirst()))
    let project = URL(filePath: FileManager.default.currentDirectoryPath, directoryHint: .isDirectory)
    let work = URL(filePath: options.work, directoryHint: .isDirectory, relativeTo: project)
    let copy = try WorkingCopy(of: project, in: work)
    let graph = try PackageGraph(manifest: Shell.output(["swift", "package", "dump-package"], in: project))
    let folders = PackageGraph.folders(of: try copy.sources(of: ""))
    options.targets = try options.targets.map { try graph.folder(named: $0, among: folders) }
    let equivalent = try EquivalentList(project.appending(path: "Tests/Mutants/equivalent.txt"))
    let earlier = try options.again.map {
        try EarlierReport(URL(filePath: $0, directoryHint: .notDirectory, relativeTo: project))
    }
    if let earlier { (options.seeds, options.count) = (earlier.seeds, .max) }
    let run = MutantRun(copy: copy, options: options)
    var report = Report(options: options, file: work.appending(path: "report.txt"))
    var picked: [Mutant] = []
    if let earlier {
        for (mutant, test) in earlier.named(among: try run.found()) {
            if let test {
                report.keep(mutant, .noticed(by: test))
            } else if let reason = equivalent.reason(of: mutant) {
                report.keep(mutant, .equivalent(reason))
            } else {
                picked.append(mutant)
            }
        }
    } else {
        picked = try run.pick()
    }
    if options.list {
        for mutant in run.counted(of: picked) { say(Report.line(of: mutant)) }
        exit(0)
    }

    var tests: [String: [[String]]] = [:]
    for target in Set(picked.map(\.target)) {
        let own = graph.ownTests(of: target).map { [$0] } ?? []
        let above = options.above ? graph.testsAbove(target).filter { !Options.never.contains($0) } : []
        tests[target] = [own, above].filter { !$0.isEmpty }
        if tests[target] == [] { throw UsageError("\(target): no tests are named for it, and --own leaves out others") }
    }
    try copy.writeManifest()
    say("seed \(options.seedList): building \(picked.count) mutants into a copy in \(copy.folder.path)")
    let built = try run.build(picked, with: Set(tests.values.joined().joined()))
    let mutants = run.counted(of: built)
    say("\(picked.count - built.count) do not compile, \(mutants.count) are tried")

    for mutant in mutants {
        if let reason = equivalent.reason(of: mutant) { report.add(mutant, .equivalent(reason)) }
    }
    try run.tryAll(mutants.filter { equivalent.reason(of: $0) == nil }, with: tests) { report.add($0, $1) }
    try report.end()
    exit(report.isGood ? 0 : 1)
} catch let error as UsageError {
    FileHandle.standardError.write(Data("run: error: \(error)\n\n\(Options.usage)\n".utf8))
    exit(64)
} catch {
    FileHandle.standardError.write(Data("run: error: \(error)\n".utf8))
    exit(2)
}
