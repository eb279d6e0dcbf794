import meterctl

await MeterctlProgram.main()
