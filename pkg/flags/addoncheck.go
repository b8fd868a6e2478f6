package flags

import (
	"maps"
	"slices"
	"strconv"
)

// FindAddonProvider returns the provider of that name, and whether it exists.
func FindAddonProvider(name string) (AddonProvider, bool) {
	for _, p := range AddonProviders() {
		if p.Name == name {
			return p, true
		}
	}
	return AddonProvider{}, false
}

// Parameter returns the parameter of that name, and whether the provider has it.
func (p AddonProvider) Parameter(name string) (AddonParameter, bool) {
	i := slices.IndexFunc(p.Parameters, func(q AddonParameter) bool { return q.Name == name })
	if i < 0 {
		return AddonParameter{}, false
	}
	return p.Parameters[i], true
}

// CheckParameters adds the problems of parameters, sensitive ones in plain text. Those in kept are stored already, and their
// values are not given. What the values must be is checked by package webhook.
func (p AddonProvider) CheckParameters(parameters map[string]string, kept map[string]bool, problems *Problems) {
	for _, parameter := range p.Parameters {
		if parameter.Required && parameters[parameter.Name] == "" && !kept[parameter.Name] {
			problems.Add("/parameters/"+parameter.Name, "is required for the provider %s", p.Name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(parameters)) {
		path, value := "/parameters/"+pointerEscape.Replace(name), parameters[name]
		if _, known := p.Parameter(name); !known {
			problems.Add("/parameters", "the provider %s has no parameter %q; it has %s", p.Name, Shorten(name, maxName), CommaList(p.parameterNames()))
			continue
		}
		CheckLength(path, value, MaxAddonParameter, problems)
	}
}

func (p AddonProvider) parameterNames() []string {
	names := make([]string, len(p.Parameters))
	for i, q := range p.Parameters {
		names[i] = q.Name
	}
	return names
}

// Shorten returns the beginning of a text from a caller, at most so many characters of it, for a message.
func Shorten(text string, most int) string {
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most]) + "…"
	}
	return text
}

// Check adds the problems of everything but the parameters. Projects and environments need not exist (yet).
func (a Addon) Check(p *Problems) {
	CheckLength("/description", valueOrEmpty(a.Description), MaxDescription, p)
	if CheckCount("/events", "events", len(a.Events), MaxAddonEvents, p) {
		for i, e := range a.Events {
			if !isAddonEvent(e) {
				p.Add("/events/"+strconv.Itoa(i), "there is no event type %q", Shorten(string(e), maxName))
			}
		}
	}
	checkSelection("/projects", "projects", a.Projects, MaxAddonProjects, p)
	checkSelection("/environments", "environments", a.Environments, MaxAddonEnvironments, p)
}

func checkSelection(path, what string, names []string, most int, p *Problems) {
	if !CheckCount(path, what, len(names), most, p) {
		return
	}
	for i, name := range names {
		if fault := CheckName(name); fault != "" && name != All {
			p.Add(path+"/"+strconv.Itoa(i), "%s", fault)
		}
	}
}

// SendsReserved reports whether the addon sends events that only administrators can see, see ReservedEvents.
func (a Addon) SendsReserved() bool {
	return slices.ContainsFunc(a.Events, IsReserved)
}
