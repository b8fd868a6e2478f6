package dynamo

import "guidon/pkg/flags"

// signalsEntity is the named signals of an environment of a project. What a signal says is written without an event.
var signalsEntity = entity{
	name:   flags.EntitySignals,
	key:    func(attachment string) itemKey { return itemKey{"SIGNALS#" + attachment, "SIGNALS"} },
	title:  func(string) string { return "the signals of the environment" },
	exists: func(string) conditionError { return versionConflict },
	codec:  jsonCodec(func(a *flags.Signals) *int64 { return &a.Version }),
}
