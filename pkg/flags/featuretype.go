package flags

// FeatureType is the purpose of a flag.
type FeatureType string

// The feature types. Release is the default.
const (
	Release        FeatureType = "release"
	Experiment     FeatureType = "experiment"
	Operational    FeatureType = "operational"
	KillSwitch     FeatureType = "kill-switch"
	PermissionFlag FeatureType = "permission"
)

// A FeatureTypeInfo describes a feature type to users.
type FeatureTypeInfo struct {
	ID          FeatureType
	Name        string
	Description string
	Lifetime    int // days that a flag of this type is expected to be used; 0 for no limit
}

var featureTypes = []FeatureTypeInfo{
	{Experiment, "Experiment", "Compares variants of a feature to find the better one.", 40},
	{KillSwitch, "Kill switch", "Switches a feature off at once when it causes trouble.", 0},
	{Release, "Release", "Releases a new feature to users step by step.", 40},
	{Operational, "Operational", "Controls how the system operates, for example during a migration.", 7},
	{PermissionFlag, "Permission", "Gives a feature to the users who are entitled to it.", 0},
}

// FeatureTypeInfos returns the descriptions of all feature types.
func FeatureTypeInfos() []FeatureTypeInfo { return append([]FeatureTypeInfo(nil), featureTypes...) }

// FeatureTypes returns all feature types.
func FeatureTypes() []FeatureType {
	list := make([]FeatureType, len(featureTypes))
	for i, t := range featureTypes {
		list[i] = t.ID
	}
	return list
}
