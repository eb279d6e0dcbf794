import Foundation

do {
    var options = try Options(Array(CommandLine.arguments.dropFirst()))
    let project = URL(filePath: FileManager.default.currentDirectoryPath, directoryHint: .isDirectory)
    let work = URL(filePath: options.work, directoryHint: .isDirectory, relativeTo: project)
    let copy = try WorkingCopy(of: project, in: work)
    let graph = try PackageGraph(
        manifest: Data(try Shell.output(["swift", "package", "dump-package"], in: project).utf8))
    if let unknown = options.targets.first(where: { !graph.has(PackageGraph.target($0)) }) {
        throw UsageError("--target: the package has no \(unknown)")
    }
    let equivalent = try EquivalentList(project.appending(path: "Tests/Mutants/equivalent.txt"))
    let earlier = try options.again.map {
        try EarlierReport(URL(filePath: $0, directoryHint: .notDirectory, relativeTo: project))
    }
    if let earlier { (options.seeds, options.count) = (earlier.seeds, .max) }
    let run = MutantRun(copy: copy, graph: graph, options: options)
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

    var tests: Set<String> = []
    let targets = options.targets.filter { target in picked.contains { $0.target == target } }
    for target in targets {
        tests.formUnion(graph.ownTests(of: PackageGraph.target(target)))
        if options.above { tests.formUnion(graph.testsAbove(PackageGraph.target(target))) }
    }
    tests.subtract(Options.never)
    try copy.reduce(to: graph.closure(of: tests.union(targets.map(PackageGraph.target))))
    say("seed \(options.seedList): building \(picked.count) mutants into a copy in \(copy.folder.path)")
    let built = try run.build(picked)
    let mutants = run.counted(of: built)
    say("\(picked.count - built.count) do not compile, \(mutants.count) are tried")

    for mutant in mutants {
        if let reason = equivalent.reason(of: mutant) { report.add(mutant, .equivalent(reason)) }
    }
    try run.tryAll(mutants.filter { equivalent.reason(of: $0) == nil }, among: tests) { report.add($0, $1) }
    try report.end()
    exit(report.isGood ? 0 : 1)
} catch let error as UsageError {
    FileHandle.standardError.write(Data("run: error: \(error)\n\n\(Options.usage)\n".utf8))
    exit(64)
} catch {
    FileHandle.standardError.write(Data("run: error: \(error)\n".utf8))
    exit(2)
}
