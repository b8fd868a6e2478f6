package releases

import (
	"context"
	"errors"
	"slices"

	"guidon/pkg/access"
	"guidon/pkg/events"
	"guidon/pkg/flags"
	"guidon/pkg/httpapi"
	"guidon/pkg/jsonbody"
	"guidon/pkg/shape"
)

// maxSignal is the largest body of a signal, in bytes.
const maxSignal = 16 << 10

// SignalGroup is the operations on named signals. The function of flags serves them, because a signal changes flags.
func SignalGroup() httpapi.Group {
	const (
		list = "/api/admin/projects/{projectId}/environments/{environment}/signals"
		one  = list + "/{signalName}"
	)
	return httpapi.Group{Name: "signals", Function: "features", Operations: []httpapi.Operation{
		{Route: "GET " + list, Permission: access.ReadProjectToken, Handle: httpapi.Handle(listSignals)},
		{Route: "POST " + list, Permission: access.CreateProjectToken, Status: 201, Handle: httpapi.HandleBody(createSignal)},
		{Route: "POST " + one + "/rotate", Permission: access.CreateProjectToken, Handle: httpapi.Handle(rotateSignal)},
		{Route: "DELETE " + one, Permission: access.DeleteProjectToken, Handle: httpapi.Do(deleteSignal)},
		{Route: "POST /api/signals/{signalName}", MaxBody: maxSignal, Status: 204, Handle: httpapi.DoManyForeign(receiveSignal)},
	}}
}

// inSignal is the place of an operation on a named signal.
type inSignal struct {
	httpapi.InProjectEnvironment
	Name string `path:"signalName"`
}

// signalsIn returns a copy of the signals of an environment, which can be changed.
func signalsIn(tx *httpapi.Tx, at httpapi.InProjectEnvironment) *flags.Signals {
	p, env := at.Find(tx)
	if s := httpapi.Find[*flags.Signals](tx, flags.SignalsKey(env.Attachment.ID)); s != nil {
		return s
	}
	return &flags.Signals{Attachment: env.Attachment.ID, Project: p.ID, Environment: env.Name}
}

// A signalView is a signal and what it said last.
type signalView struct {
	shape.SignalView
	Status     *string     `json:"status"`
	ReceivedAt *shape.Time `json:"receivedAt"`
}

func listSignals(tx *httpapi.Tx, at httpapi.InProjectEnvironment) ([]signalView, error) {
	return httpapi.Each(signalsIn(tx, at).List, func(s flags.Signal) signalView {
		view := signalView{SignalView: shape.SignalViewOf(s), ReceivedAt: shape.TimeOrNull(s.ReceivedAt)}
		if status := "resolved"; !s.ReceivedAt.IsZero() {
			if s.Firing {
				status = "firing"
			}
			view.Status = &status
		}
		return view
	}), nil
}

// A newSignalView is a signal with its secret, which no other response has.
type newSignalView struct {
	shape.SignalView
	Secret string `json:"secret"`
}

type createSignalBody struct {
	Name string `json:"name"`
}

// Check adds the problems that can be found without the store.
func (b createSignalBody) Check(_ flags.Limits, problems *flags.Problems) {
	flags.CheckSignalName("/name", b.Name, problems)
}

func createSignal(tx *httpapi.Tx, at httpapi.InProjectEnvironment, in createSignalBody) (newSignalView, error) {
	signals := signalsIn(tx, at)
	secret := flags.FormatSignalSecret(signals.Attachment, tx.Random())
	one := flags.Signal{Name: in.Name, Hash: access.HashSecret(secret), CreatedAt: tx.Now}
	if err := signals.Add(one); err != nil {
		return newSignalView{}, err
	}
	tx.Save(events.SignalCreated(signals, one), signals)
	tx.NoStore()
	return newSignalView{shape.SignalViewOf(one), secret}, nil
}

// rotateSignal replaces the secret. The old one ends at once.
func rotateSignal(tx *httpapi.Tx, at inSignal) (newSignalView, error) {
	signals := signalsIn(tx, at.InProjectEnvironment)
	secret := flags.FormatSignalSecret(signals.Attachment, tx.Random())
	one, err := signals.Rotate(at.Name, access.HashSecret(secret))
	if err != nil {
		return newSignalView{}, err
	}
	tx.Save(events.SignalRotated(signals, one), signals)
	tx.NoStore()
	return newSignalView{shape.SignalViewOf(one), secret}, nil
}

func deleteSignal(tx *httpapi.Tx, at inSignal) error {
	signals := signalsIn(tx, at.InProjectEnvironment)
	one, err := signals.Remove(at.Name)
	if err != nil {
		return err
	}
	for _, d := range watchedIn(tx, signals.Attachment) {
		if d.Signal == at.Name {
			tx.Load(d.Key)
			first, archived := "", ""
			if f := tx.FindFeature(d.Key.ID); f != nil && f.Archived {
				first, archived = "revive the flag and ", "archived "
			}
			return flags.Errorf(flags.Conflict, "signal %q is in use by a safeguard of the release plan of %sflag %q; %sdelete that safeguard or plan first", at.Name, archived, d.Key.ID, first)
		}
	}
	tx.Save(events.SignalDeleted(signals, one), signals)
	return nil
}

// inSecret is the place of a signal that a monitoring system posts. Its secret says which project and environment it is of.
type inSecret struct {
	httpapi.InService
	Name             string `path:"signalName"`
	attachment, hash string
}

// Parse reads the secret.
func (at *inSecret) Parse(r httpapi.Request) error {
	at.attachment, at.hash = flags.AttachmentOfSecret(r.Secret()), access.HashSecret(r.Secret())
	return nil
}

// Keys names the signals of the environment. A secret of another form names none, so that a stranger costs nothing.
func (at *inSecret) Keys() []flags.Key {
	if at.attachment == "" {
		return nil
	}
	return []flags.Key{flags.SignalsKey(at.attachment)}
}

// Authorize checks the secret, and that the project still has the environment.
func (at *inSecret) Authorize(tx *httpapi.Tx, _ access.Permission) error {
	wrong := flags.Errorf(flags.Unauthenticated, "there is no signal %q with this secret; send the secret of the signal as Authorization: Bearer <secret>", jsonbody.Shorten(at.Name))
	signals := at.signals(tx)
	if signals == nil || !signals.Accepts(at.Name, at.hash) {
		return wrong
	}
	tx.Load(flags.ProjectKey(signals.Project), flags.EnvironmentsKey())
	p := tx.FindProject(signals.Project)
	if p == nil {
		return wrong
	}
	if env, found := tx.FindProjectEnvironment(p, signals.Environment); !found || env.Attachment.ID != at.attachment {
		return wrong
	}
	return nil
}

func (at *inSecret) signals(tx *httpapi.Tx) *flags.Signals {
	for _, key := range at.Keys() {
		return httpapi.Find[*flags.Signals](tx, key)
	}
	return nil
}

// A signalBody is what a monitoring system sends: a status, and anything else.
type signalBody struct {
	Status string `json:"status"`
}

// Check adds the problems that can be found without the store.
func (b signalBody) Check(_ flags.Limits, problems *flags.Problems) {
	switch b.Status {
	case "firing", "alerting", "triggered", "resolved", "ok":
	default:
		problems.Add("/status", "must be firing, alerting or triggered, or resolved or ok, not %q", jsonbody.Shorten(b.Status))
	}
}

func (b signalBody) firing() bool { return b.Status != "resolved" && b.Status != "ok" }

// atOnce is how many safeguards act in the request of their signal. The run of the next minute has the others act.
const atOnce = 20

// receiveSignal stores what a signal says, and has the safeguards act that name it.
func receiveSignal(m *httpapi.Many, at inSecret, in signalBody) error {
	var watched []flags.Due // a plan that begins to run at the same time is left to the run of the next minute
	err := m.Until(func(tx *httpapi.Tx) (last bool, err error) {
		signals := at.signals(tx)
		signals.Receive(at.Name, in.firing(), tx.Now)
		tx.SaveUnlogged(signals)
		if in.firing() {
			watched = slices.DeleteFunc(slices.Clone(watchedIn(tx, at.attachment)), func(d flags.Due) bool {
				return d.Signal != at.Name || d.At != flags.WatchAlways
			})
		}
		return true, nil
	})
	if err != nil {
		if flags.KindOf(err) == flags.VersionConflict {
			err = unavailable(err)
		}
		return err
	}
	watched = watched[:min(len(watched), atOnce)]
	return unavailable(errors.Join(m.Each(len(watched), nil, func(tx *httpapi.Tx, i int) error {
		act(tx, watched[i])
		return nil
	})...))
}

// unavailable is the error of a signal that did not have its whole effect: senders repeat only what a 5xx refuses.
func unavailable(err error) error {
	if err == nil {
		return nil
	}
	return &flags.Error{Kind: flags.Unavailable, Err: err, Message: "the signal did not have its whole effect yet; send it again"}
}

// watchedIn returns the safeguards under an attachment of an environment.
func watchedIn(tx *httpapi.Tx, attachment string) []flags.Due {
	return httpapi.Read(tx, watchedUnder(attachment), func(ctx context.Context, store httpapi.Store) ([]flags.Due, error) {
		return store.Watched(ctx, attachment)
	})
}

type watchedUnder string
