// Package addons has the operations on addons, which send events to webhooks and to Slack. Package webhook sends them.
package addons

import (
	"context"
	"net/http"
	"strconv"

	"guidon/pkg/access"
	"guidon/pkg/events"
	"guidon/pkg/flags"
	"guidon/pkg/httpapi"
)

const addonsPath = "/api/admin/addons"

// Group lists the operations.
func Group() httpapi.Group {
	const one = addonsPath + "/{addonId}"
	registry := []flags.Key{flags.AddonsKey()}
	return httpapi.Group{Name: "addons", Function: "integrations", Operations: []httpapi.Operation{
		{Route: "GET " + addonsPath, Permission: access.Read, Ahead: registry, Handle: httpapi.Handle(list)},
		{Route: "POST " + addonsPath, Permission: access.CreateAddon, Status: http.StatusCreated, Handle: httpapi.HandleBody(create)},
		{Route: "GET " + one, Permission: access.Read, Handle: httpapi.Handle(read)},
		{Route: "PUT " + one, Permission: access.UpdateAddon, Handle: httpapi.HandleBody(update)},
		{Route: "DELETE " + one, Permission: access.DeleteAddon, Handle: httpapi.Do(remove)},
		{Route: "POST " + one + "/test", Permission: access.UpdateAddon, Status: http.StatusAccepted, Handle: httpapi.Do(test)},
		{Route: "GET " + one + "/events", Permission: access.UpdateAddon, Handle: httpapi.Handle(listDeliveries)},
		{Route: "POST " + one + "/resend", Permission: access.UpdateAddon, Status: http.StatusAccepted, Handle: httpapi.Handle(resend)},
	}}
}

// inAddon is the place of an operation on one addon.
type inAddon struct {
	httpapi.InService
	ID int64 `path:"addonId"`
}

// Keys names the registry of addons.
func (at *inAddon) Keys() []flags.Key { return []flags.Key{flags.AddonsKey()} }

// find returns the registry and the addon of the path. NotFound when there is no such addon.
func (at inAddon) find(tx *httpapi.Tx) (*flags.Addons, flags.Addon) {
	registry := tx.Addons()
	a, err := registry.Get(at.ID)
	if err != nil {
		tx.Fail(err)
	}
	return registry, a
}

// findEnabled returns an error for a disabled addon, which only callers who may change it see.
func (at inAddon) findEnabled(tx *httpapi.Tx) flags.Addon {
	_, a := at.find(tx)
	if err := authorize(tx, a); err != nil {
		tx.Fail(err)
	}
	if !a.Enabled {
		tx.Fail(flags.Errorf(flags.Conflict, "addon %d is disabled and sends nothing; enable it first", a.ID))
	}
	return a
}

func list(tx *httpapi.Tx, _ httpapi.InService) (addonList, error) {
	return addonList{Addons: httpapi.Each(tx.Addons().List, func(a flags.Addon) addonView { return addonViewOf(tx, a) }), Providers: httpapi.Each(flags.AddonProviders(), providerViewOf)}, nil
}

func read(tx *httpapi.Tx, at inAddon) (addonView, error) {
	_, a := at.find(tx)
	return addonViewOf(tx, a), nil
}

func create(tx *httpapi.Tx, _ httpapi.InService, in addonBody) (addonView, error) {
	registry := tx.Addons()
	a := in.applyTo(flags.Addon{CreatedAt: tx.Now})
	if err := authorize(tx, a); err != nil {
		return addonView{}, err
	}
	if err := in.checkNothingKept(); err != nil {
		return addonView{}, err
	}
	if err := in.checkNetwork(tx, a); err != nil {
		return addonView{}, err
	}
	if err := registry.CheckRoom(); err != nil {
		return addonView{}, err
	}
	a.ID = tx.NextID(flags.EntityAddons)
	a = in.seal(tx, a)
	if err := registry.Add(a); err != nil {
		return addonView{}, err
	}
	tx.Save(events.Addon.Created(a), registry)
	tx.Created(addonsPath, strconv.FormatInt(a.ID, 10))
	return addonViewOf(tx, a), nil
}

func update(tx *httpapi.Tx, at inAddon, in addonBody) (addonView, error) {
	registry, before := at.find(tx)
	after := in.applyTo(before)
	if err := authorize(tx, before, after); err != nil {
		return addonView{}, err
	}
	if err := in.checkKept(tx, before); err != nil {
		return addonView{}, err
	}
	if err := in.checkNetwork(tx, before); err != nil {
		return addonView{}, err
	}
	after = in.seal(tx, after)
	if err := registry.Replace(after); err != nil {
		return addonView{}, err
	}
	tx.Save(events.Addon.Updated(before, after), registry)
	return addonViewOf(tx, after), nil
}

// authorize lets only administrators have addons send events that only administrators can see, and change, delete, test or resend
// such addons: another URL would get these events, and a deleted one is an audit that has ended.
func authorize(tx *httpapi.Tx, states ...flags.Addon) error {
	for _, a := range states {
		if a.SendsReserved() && !tx.Caller.Admin {
			return flags.Errorf(flags.Forbidden, "only administrators can have addons send events about tokens, users, roles and access to projects, or change, delete, test or resend such addons")
		}
	}
	return nil
}

func remove(tx *httpapi.Tx, at inAddon) error {
	registry, a := at.find(tx)
	if err := authorize(tx, a); err != nil {
		return err
	}
	if err := registry.Remove(a.ID); err != nil {
		return err
	}
	tx.Save(events.Addon.Deleted(a), registry)
	return nil
}

// test puts an event into the outbox of the addon, also if the addon sends no events of its type.
func test(tx *httpapi.Tx, at inAddon) error {
	a := at.findEnabled(tx)
	tx.After(func(ctx context.Context, store httpapi.Store) error {
		event := tx.Sign(events.AddonTest(a))
		return store.PutOutbox(ctx, flags.OutboxEntry{Addon: a.ID, ID: event.ID, Test: &event})
	})
	return nil
}
