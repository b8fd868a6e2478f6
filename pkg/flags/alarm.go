package flags

// An AlarmState is what CloudWatch says of an alarm.
type AlarmState struct {
	State   string // OK, ALARM or INSUFFICIENT_DATA
	Reason  string
	Missing bool // without data it becomes INSUFFICIENT_DATA (TreatMissingData: missing)
}
