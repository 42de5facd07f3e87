package models

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"

	"atelier.dev/atelier/agent/llm/provider"
	"atelier.dev/atelier/backend"
)

// A key belongs to the origin that it was entered for, and is stored under a
// name that contains that origin. No change of an address alone can send it
// elsewhere.

const (
	// addressSetting is the prefix under which a provider's address is stored.
	addressSetting = "address."
	// ownAddress is stored for the provider's own address.
	ownAddress = "own"
	// baseURLSetting held addresses before keys were bound to origins. Its key
	// is stored under the provider's id alone.
	baseURLSetting = "base_url."
)

// stored is what Settings keep for a provider: an address, empty for the
// provider's own, and the name of its key.
type stored struct{ address, entry string }

// keyEntry returns the name of the key for an address.
func keyEntry(id, address string) string {
	if origin := originOf(address); origin != "" {
		return id + "@" + origin
	}
	return id
}

func (p *Providers) stored(ctx context.Context, id string) (stored, error) {
	address, err := p.cfg.Settings.Setting(ctx, addressSetting+id)
	switch {
	case err != nil:
		return stored{}, err
	case address == ownAddress:
		return stored{entry: id}, nil
	case address != "":
		return stored{address: address, entry: keyEntry(id, address)}, nil
	}
	address, err = p.cfg.Settings.Setting(ctx, baseURLSetting+id)
	return stored{address: address, entry: id}, err
}

// key reads the key with the given name.
func (p *Providers) key(row provider.Row, entry string) (string, backend.KeySource, error) {
	if entry == "" {
		return "", "", nil
	}
	key, source, err := p.cfg.Keys.Key(entry)
	if err != nil {
		return "", "", keyProblem(row, backend.ProblemKeyUnread, backend.ProblemKeyUnreadOrSet).Because(err)
	}
	return key, source, nil
}

// keyProblem returns a problem with a provider's key, or its variant if a
// variable can be set instead.
func keyProblem(row provider.Row, alone, orSet backend.ProblemID) *backend.Error {
	if len(row.KeyVariables) == 0 {
		return backend.Problem(alone, row.Name)
	}
	return backend.Problem(orSet, row.Name, row.KeyVariables[0])
}

func (p *Providers) ListKeys(ctx context.Context, _ backend.Empty) (KeyList, error) {
	var out KeyList
	out.Keyring, out.File = p.cfg.Keys.Place()
	found, err := p.found(ctx)
	if err != nil {
		return out, err
	}
	for _, row := range p.vendors {
		a := found[row.ID]
		out.Keys = append(out.Keys, KeyInfo{
			Provider: row.ID, Name: row.Name, Source: a.source, BaseURL: shownAddress(a.baseURL),
			Variable: cmp.Or(a.variable, row.KeyVariables[0]), NeedsBaseURL: row.Needs.URL, OwnBaseURL: row.BaseURL,
			Vendor: row.Vendor, Local: row.Running != nil,
		})
	}
	return out, nil
}

// builtIn is get for a provider that is not one of the user's own endpoints.
func (p *Providers) builtIn(ctx context.Context, id string) (provider.Row, access, error) {
	row, a, err := p.get(ctx, id)
	if err == nil && !slices.ContainsFunc(p.vendors, func(r provider.Row) bool { return r.ID == id }) {
		err = backend.Problem(backend.ProblemEndpointNotHere, row.Name)
	}
	return row, a, err
}

// SetKey stores a provider's key and address, both or neither. Only the user
// sets an endpoint: nothing in a project can redirect a key.
func (p *Providers) SetKey(ctx context.Context, in SetKeyRequest) (KeyList, error) {
	row, now, err := p.builtIn(ctx, in.Provider)
	if err != nil {
		return KeyList{}, err
	}
	address, err := checkAddress(row, in.BaseURL)
	if err != nil {
		return KeyList{}, err
	}
	if err := p.store(ctx, row, now, address, strings.TrimSpace(in.Key)); err != nil {
		return KeyList{}, err
	}
	if err := p.refresh(ctx); err != nil {
		return KeyList{}, err
	}
	return p.ListKeys(ctx, backend.Empty{})
}

// store replaces the stored address and key. An empty key keeps the stored one,
// provided that it is for the same origin. The key is written first, because
// nobody uses it until the address names it.
func (p *Providers) store(ctx context.Context, row provider.Row, now access, address, key string) error {
	p.storing.Lock()
	defer p.storing.Unlock()
	before, err := p.stored(ctx, row.ID)
	if isDamaged(err) { // the origin of the old key is unknown
		before, err = stored{}, nil
	}
	if err != nil {
		return err
	}
	old, _, err := p.key(row, before.entry)
	if err != nil {
		return err
	}
	origin := originOf(address)
	if key == "" && now.key != "" && origin != originOf(now.baseURL) && origin != originOf(before.address) {
		return askForKey(row, now, address)
	}
	if origin == originOf(before.address) || now.source != backend.KeyFromEnvironment {
		key = cmp.Or(key, old)
	}
	entry := keyEntry(row.ID, address)
	undo, err := p.putKey(row, entry, key)
	if err != nil {
		return err
	}
	if err := p.cfg.Settings.SetSetting(ctx, addressSetting+row.ID, cmp.Or(address, ownAddress)); err != nil {
		return errors.Join(err, undo())
	}
	if key != "" && before.entry != "" && before.entry != entry {
		if err := p.cfg.Keys.RemoveKey(before.entry); err != nil { // it is not used any more
			slog.Warn("could not remove the key of an earlier address", "provider", row.ID, "err", err)
		}
	}
	return nil
}

// putKey stores a key, if there is one, and returns a function that undoes it.
func (p *Providers) putKey(row provider.Row, entry, key string) (undo func() error, err error) {
	was, _, err := p.key(row, entry)
	if err != nil {
		return nil, err
	}
	undo = func() error {
		if was == "" {
			return p.cfg.Keys.RemoveKey(entry)
		}
		return p.cfg.Keys.SetKey(entry, was)
	}
	if key == "" || key == was {
		return func() error { return nil }, nil
	}
	if err := p.cfg.Keys.SetKey(entry, key); err != nil {
		_ = undo() // a keyring may have stored it anyway
		return nil, keyProblem(row, backend.ProblemKeyUnsaved, backend.ProblemKeyUnsavedOrSet).Because(err)
	}
	return undo, nil
}

// askForKey refuses to send a key to a host other than the one it was entered
// for.
func askForKey(row provider.Row, now access, address string) error {
	switch {
	case now.source == backend.KeyFromEnvironment:
		return backend.Problem(backend.ProblemKeyOfEnvironment, now.variable, row.URLVariable)
	case address == "":
		return backend.Problem(backend.ProblemKeyNotOwn, row.Name)
	}
	return backend.Problem(backend.ProblemKeyOfOther, row.Name, address)
}

func (p *Providers) RemoveKey(ctx context.Context, in ProviderRef) (KeyList, error) {
	row, _, err := p.builtIn(ctx, in.Provider)
	if err != nil {
		return KeyList{}, err
	}
	s, err := p.stored(ctx, row.ID)
	if err != nil {
		return KeyList{}, err
	}
	if err := p.cfg.Keys.RemoveKey(s.entry); err != nil {
		return KeyList{}, backend.Problem(backend.ProblemKeyUnremoved, row.Name).Because(err)
	}
	if err := p.refresh(ctx); err != nil {
		return KeyList{}, err
	}
	return p.ListKeys(ctx, backend.Empty{})
}

// KeyInfo describes the source of a provider's key, but not the key.
type KeyInfo struct {
	Provider string `json:"provider"`
	Name     string `json:"name"`
	// Source is "environment", "keyring", "file", or empty if there is no key.
	Source  backend.KeySource `json:"source,omitempty"`
	BaseURL string            `json:"base_url,omitempty"`
	// Variable is the environment variable for the key.
	Variable string `json:"variable"`
	// NeedsBaseURL marks providers that need an address.
	NeedsBaseURL bool `json:"needs_base_url,omitempty"`
	// OwnBaseURL is the default address of a provider; empty for well-known
	// providers and for those without one.
	OwnBaseURL string `json:"own_base_url,omitempty"`
	// Vendor marks providers with an API of their own, which come first.
	Vendor bool `json:"vendor,omitempty"`
	// Local marks servers on this machine, which need no key.
	Local bool `json:"local,omitempty"`
}

// KeyList answers keys.list.
type KeyList struct {
	Keys []KeyInfo `json:"keys,omitempty"`
	// Keyring says that new keys go to the system's keyring; otherwise they go
	// to File.
	Keyring bool   `json:"keyring,omitempty"`
	File    string `json:"file,omitempty"`
}

// SetKeyRequest is for keys.set. An empty Key keeps the stored one.
type SetKeyRequest struct {
	Provider string `json:"provider"`
	Key      string `json:"key,omitempty"`
	BaseURL  string `json:"base_url,omitempty"`
}

// ProviderRef names a provider.
type ProviderRef struct {
	Provider string `json:"provider"`
}

// Keys returns the keys of all providers, so that they can be taken out of what leaves
// this machine.
func (p *Providers) Keys(ctx context.Context) (keys []string, err error) {
	all, err := p.found(ctx)
	if err != nil {
		return nil, err
	}
	for _, a := range all {
		if a.key != "" {
			keys = append(keys, a.key)
		}
	}
	return keys, nil
}
