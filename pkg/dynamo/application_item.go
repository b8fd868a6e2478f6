package dynamo

import (
	"strconv"

	"guidon/pkg/flags"
	"guidon/pkg/usage"
)

var applicationEntity = entity{
	name:    usage.EntityApplication,
	key:     func(name string) itemKey { return itemKey{applicationList, name} },
	title:   func(name string) string { return "the application " + strconv.Quote(name) },
	codec:   jsonCodec(func(a *usage.Application) *int64 { return &a.Version }),
	list:    applicationList,
	history: func(a flags.Aggregate) string { return instancesPrefix + a.Key().ID + "#" + applicationUID(a) },
	uid:     applicationUID,
}

// applicationUID distinguishes an application from later ones of the same name, whose versions begin at 1 again: each has a history
// of its own.
func applicationUID(a flags.Aggregate) string {
	return strconv.FormatInt(a.(*usage.Application).CreatedAt.UnixMilli(), 10)
}

const (
	applicationList = "APPLICATIONS"
	instancesPrefix = "APP#"
)

// applicationNamesEntity is the names of flags that an application evaluated.
var applicationNamesEntity = entity{
	name:  usage.EntityApplicationNames,
	key:   func(name string) itemKey { return itemKey{instancesPrefix + name, "NAMES"} },
	title: func(name string) string { return "the flags of the application " + strconv.Quote(name) },
	codec: jsonCodec(func(a *usage.ApplicationNames) *int64 { return &a.Version }),
}

// instancesEntity is the instances of an application in one environment.
var instancesEntity = entity{
	name: usage.EntityInstances,
	key: func(id string) itemKey {
		application, environment := usage.CutInstancesID(id)
		return itemKey{instancesPrefix + application, "INSTANCES#" + environment}
	},
	title: func(id string) string {
		application, environment := usage.CutInstancesID(id)
		return "the instances of the application " + strconv.Quote(application) + " in " + strconv.Quote(environment)
	},
	codec: codec{
		encode: func(a flags.Aggregate) (string, error) {
			stored := *a.(*usage.Instances)
			stored.Version = 0
			return encode(instancesDocument{format, &stored})
		},
		decode: jsonCodec(func(a *usage.Instances) *int64 { return &a.Version }).decode,
	},
}

// An instancesDocument is the stored form of the instances of an application. Its field names are short because there can be a
// thousand.
type instancesDocument struct {
	Format int `json:"f"`
	*usage.Instances
}

// tokenApplicationsEntity is the applications that reported with a token.
var tokenApplicationsEntity = entity{
	name:  usage.EntityTokenApplications,
	key:   func(hash string) itemKey { return itemKey{usagePartition, "TOKEN#" + hash} },
	title: func(string) string { return "the applications of the token" },
	codec: jsonCodec(func(a *usage.TokenApplications) *int64 { return &a.Version }),
}

// askedForAllEntity is when providers of OFREP last asked for all flags of a project.
var askedForAllEntity = entity{
	name:  usage.EntityAskedForAll,
	key:   func(project string) itemKey { return itemKey{usagePartition, "ALL#" + project} },
	title: func(project string) string { return "the bulk evaluations of project " + strconv.Quote(project) },
	codec: jsonCodec(func(a *usage.AskedForAll) *int64 { return &a.Version }),
}
