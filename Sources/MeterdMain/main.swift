import metercloud
import meterctl
import meterd

// One executable has three names (Docs/Decisions/0034-one-program-under-three-names.md). Any other name means meterd.
switch CommandLine.arguments.first?.split(separator: "/").last {
case "meterctl": await MeterctlProgram.main()
case "metercloud": await MetercloudProgram.main()
default: await MeterdProgram.main()
}
