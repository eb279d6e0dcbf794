import metercloud

await MetercloudProgram.main()
