package metrics

import (
	"guidon/pkg/admin/wire"
	"guidon/pkg/events"
	"guidon/pkg/flags"
	"guidon/pkg/httpapi"
	"guidon/pkg/jsonbody"
	"guidon/pkg/usage"
)

// A describeBody is what a user says about an application. Absent fields stay the same. What SDKs report, such as the strategies,
// cannot be set.
type describeBody struct {
	Description jsonbody.Maybe[*string] `json:"description"`
	URL         jsonbody.Maybe[*string] `json:"url"`
	Color       jsonbody.Maybe[*string] `json:"color"`
	Icon        jsonbody.Maybe[*string] `json:"icon"`
}

func (b describeBody) Check(_ flags.Limits, problems *flags.Problems) {
	d := b.applyTo(usage.ApplicationDetails{})
	flags.CheckLength("/description", d.Description, flags.MaxDescription, problems)
	flags.CheckLength("/url", d.URL, flags.MaxTitle, problems)
	flags.CheckLink("/url", d.URL, problems)
	flags.CheckLength("/color", d.Color, flags.MaxTitle, problems)
	flags.CheckLength("/icon", d.Icon, flags.MaxTitle, problems)
}

func (b describeBody) applyTo(d usage.ApplicationDetails) usage.ApplicationDetails {
	return usage.ApplicationDetails{
		Description: wire.TextOver(b.Description, d.Description), URL: wire.TextOver(b.URL, d.URL),
		Color: wire.TextOver(b.Color, d.Color), Icon: wire.TextOver(b.Icon, d.Icon),
	}
}

// describeApplication changes what users say about an application, and creates it if it never reported.
func describeApplication(tx *httpapi.Tx, at inApplication, in describeBody) error {
	if len(at.Keys()) == 0 {
		return flags.Errorf(flags.Invalid, "the name of an application must be UTF-8 of at most 255 characters")
	}
	a := tx.FindApplication(at.Name)
	if a == nil {
		if len(tx.Applications()) >= usage.MaxApplications {
			return flags.Errorf(flags.Invalid, "there are %d applications, the most that are allowed; delete one first", usage.MaxApplications)
		}
		tx.RetryNameExists() // it can report just now
		a = &usage.Application{Name: at.Name, CreatedAt: tx.Now, CreatedBy: tx.Caller.Name, ApplicationDetails: in.applyTo(usage.ApplicationDetails{})}
		tx.Save(events.Application.Created(a), a)
		return nil
	}
	a.ApplicationDetails = in.applyTo(a.ApplicationDetails)
	tx.Save(events.Application.Updated(httpapi.Was(tx, a), a), a)
	return nil
}

// deleteApplication deletes an application with all that it reported, except for the sums of flags, and makes room for another one with
// its tokens. One that reports again is created anew. Deleting one that does not exist has no effect.
func deleteApplication(tx *httpapi.Tx, at inApplication) error {
	if a := tx.FindApplication(at.Name); a != nil {
		tx.Delete(events.Application.Deleted(a), a)
		tx.AlsoDelete(tx.ApplicationNames(a))
		keys := instancesKeys(a, nil)
		tx.Load(keys...)
		for _, key := range keys {
			if instances := httpapi.Find[*usage.Instances](tx, key); instances != nil {
				tx.AlsoDelete(instances)
			}
		}
	}
	return nil
}
