import metercloud
import meterctl
import meterd

// The package has this program under three names (Docs/Decisions/0034-one-program-under-three-names.md): what it is called
// by says which of the three it is. Under any other name it is meterd.
switch CommandLine.arguments.first?.split(separator: "/").last {
case "meterctl": await MeterctlProgram.main()
case "metercloud": await MetercloudProgram.main()
default: await MeterdProgram.main()
}
