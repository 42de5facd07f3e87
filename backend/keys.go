package backend

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"atelier.dev/atelier/agent/llm/provider"
)

// A key belongs to the origin that it was entered for, and is kept under a name
// that says which: no change of an address alone, whoever makes it, can send it
// anywhere else.

const (
	// addressSetting is what a provider's address is stored under.
	addressSetting = "address."
	// ownAddress is stored for the provider's own.
	ownAddress = "own"
	// baseURLSetting held addresses before keys were bound to them. Its key lies
	// under the provider's id alone.
	baseURLSetting = "base_url."
)

// stored is what Settings keep of a provider: an address, empty for the
// provider's own, and the name under which its key lies.
type stored struct{ address, entry string }

// keyEntry is the name of the key for an address.
func keyEntry(id, address string) string {
	if origin := originOf(address); origin != "" {
		return id + "@" + origin
	}
	return id
}

func (p *providers) stored(ctx context.Context, id string) (stored, error) {
	address, err := p.cfg.Store.Setting(ctx, addressSetting+id)
	switch {
	case err != nil:
		return stored{}, err
	case address == ownAddress:
		return stored{entry: id}, nil
	case address != "":
		return stored{address: address, entry: keyEntry(id, address)}, nil
	}
	address, err = p.cfg.Store.Setting(ctx, baseURLSetting+id)
	return stored{address: address, entry: id}, err
}

// key reads the key that lies under a name.
func (p *providers) key(row provider.Row, entry string) (string, KeySource, error) {
	if entry == "" {
		return "", "", nil
	}
	key, source, err := p.cfg.Keys.Key(entry)
	if err != nil {
		return "", "", &Error{
			Code: CodeKeyUnavailable, Message: fmt.Sprintf("The key of %s could not be read.", row.Name),
			Kept: "It was not changed.", Next: "Unlock the keyring" + orSet(row), Details: err.Error(), cause: err,
		}
	}
	return key, source, nil
}

// orSet ends a sentence with the variable that would do instead.
func orSet(row provider.Row) string {
	if len(row.KeyVariables) == 0 {
		return "."
	}
	return fmt.Sprintf(", or set %s.", row.KeyVariables[0])
}

func (w *Workbench) listKeys(ctx context.Context, _ Empty) (KeyList, error) {
	var out KeyList
	out.Keyring, out.File = w.cfg.Keys.Place()
	found, err := w.providers.found(ctx)
	if err != nil {
		return out, err
	}
	for _, row := range w.providers.vendors {
		a := found[row.ID]
		out.Keys = append(out.Keys, KeyInfo{
			Provider: row.ID, Name: row.Name, Source: a.source, BaseURL: shownAddress(a.baseURL),
			Variable: cmp.Or(a.variable, row.KeyVariables[0]), NeedsBaseURL: row.Needs.URL, OwnBaseURL: row.BaseURL,
			Vendor: row.Vendor, Local: row.Running != nil,
		})
	}
	return out, nil
}

// known is get for a provider that is known by name.
func (p *providers) known(ctx context.Context, id string) (provider.Row, access, error) {
	row, a, err := p.get(ctx, id)
	if err == nil && !slices.ContainsFunc(p.vendors, func(r provider.Row) bool { return r.ID == id }) {
		err = &Error{Code: CodeInvalid, Message: row.Name + " is an endpoint of yours.", Kept: "Nothing was changed.", Next: "Change it under Settings → Keys → Your endpoints."}
	}
	return row, a, err
}

// setKey stores a provider's key and address, both or neither. An endpoint is
// only ever set by the user: nothing in a project can redirect a key.
func (w *Workbench) setKey(ctx context.Context, in SetKeyRequest) (KeyList, error) {
	row, now, err := w.providers.known(ctx, in.Provider)
	if err != nil {
		return KeyList{}, err
	}
	address, err := checkAddress(row, in.BaseURL)
	if err != nil {
		return KeyList{}, err
	}
	if err := w.providers.store(ctx, row, now, address, strings.TrimSpace(in.Key)); err != nil {
		return KeyList{}, err
	}
	if err := w.providers.refresh(ctx); err != nil {
		return KeyList{}, err
	}
	return w.listKeys(ctx, Empty{})
}

// store puts an address and a key in the place of what is stored. An empty key
// keeps the one there is, as long as that is for the same origin. The key comes
// first: until the address names it, nobody uses it.
func (p *providers) store(ctx context.Context, row provider.Row, now access, address, key string) error {
	p.storing.Lock()
	defer p.storing.Unlock()
	before, err := p.stored(ctx, row.ID)
	if isDamaged(err) { // whose key it was is not known any more
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
	if origin == originOf(before.address) || now.source != KeyFromEnvironment {
		key = cmp.Or(key, old)
	}
	entry := keyEntry(row.ID, address)
	undo, err := p.putKey(row, entry, key)
	if err != nil {
		return err
	}
	if err := p.cfg.Store.SetSetting(ctx, addressSetting+row.ID, cmp.Or(address, ownAddress)); err != nil {
		return errors.Join(err, undo())
	}
	if key != "" && before.entry != "" && before.entry != entry {
		if err := p.cfg.Keys.RemoveKey(before.entry); err != nil { // it is not used any more
			slog.Warn("remove the key of an earlier address", "provider", row.ID, "err", err)
		}
	}
	return nil
}

// putKey stores a key, if there is one, and returns what takes it back.
func (p *providers) putKey(row provider.Row, entry, key string) (undo func() error, err error) {
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
		_ = undo() // a keyring may have taken it all the same
		return nil, &Error{
			Code: CodeKeyUnavailable, Message: "The key could not be saved.", Kept: "The old key and the old address are still there.",
			Next: "Unlock the keyring" + orSet(row), Details: err.Error(), cause: err,
		}
	}
	return undo, nil
}

// askForKey refuses to send a key to another host than it was entered for.
func askForKey(row provider.Row, now access, address string) error {
	e := &Error{
		Code:    CodeKeyNeeded,
		Message: fmt.Sprintf("The key of %s was entered for another address and is not sent to this one.", row.Name),
		Kept:    "Nothing was changed.",
		Next:    "Enter the key for " + cmp.Or(address, "the provider's own address") + ", or remove the old key first.",
	}
	if now.source == KeyFromEnvironment {
		e.Message = fmt.Sprintf("The key in %s is not sent to an address that is set here.", now.variable)
		e.Next = fmt.Sprintf("Enter the key for this address, or set %s beside %s.", row.URLVariable, now.variable)
	}
	return e
}

func (w *Workbench) removeKey(ctx context.Context, in ProviderRef) (KeyList, error) {
	row, _, err := w.providers.known(ctx, in.Provider)
	if err != nil {
		return KeyList{}, err
	}
	s, err := w.providers.stored(ctx, row.ID)
	if err != nil {
		return KeyList{}, err
	}
	if err := w.cfg.Keys.RemoveKey(s.entry); err != nil {
		return KeyList{}, &Error{Code: CodeKeyUnavailable, Message: "The key could not be removed.", Kept: "It is still there.", Details: err.Error(), cause: err}
	}
	if err := w.providers.refresh(ctx); err != nil {
		return KeyList{}, err
	}
	return w.listKeys(ctx, Empty{})
}
