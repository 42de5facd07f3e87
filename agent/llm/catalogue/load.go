package catalogue

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
)

// With returns the built-in rows with the user's own on top (OAS-713), read
// from a file of the same form: {"models": [{"provider": …, "id": …, "input":
// …}]}. A row for a known model changes only the fields that it names. If
// anything in the file is wrong, none of it is used and the error names the
// line; the returned catalogue is still usable.
func With(user []byte) (*Catalogue, error) {
	c := New()
	if err := c.load(user); err != nil {
		return New(), err
	}
	return c, nil
}

// ourName returns our id of a provider that a file names.
func ourName(provider string) string {
	switch provider {
	case "google":
		return "gemini"
	case "zhipuai":
		return "glm"
	case "alibaba":
		return "qwen"
	case "moonshotai":
		return "moonshot"
	default:
		return provider
	}
}

// load registers the rows of a user's file. It refuses unknown fields, so that
// a misspelt price does not become an unknown one.
func (c *Catalogue) load(data []byte) error {
	var f struct {
		Models []json.RawMessage `json:"models"`
	}
	if err := json.Unmarshal(data, &f); err != nil {
		var syntax *json.SyntaxError
		if errors.As(err, &syntax) {
			return fmt.Errorf("line %d: %w", line(data, int(syntax.Offset)), err)
		}
		return fmt.Errorf(`line 1: a file of models is {"models": […]}: %w`, err)
	}
	if f.Models == nil {
		return errors.New(`line 1: a file of models is {"models": […]}`)
	}
	offset := 0
	for _, raw := range f.Models {
		offset += bytes.Index(data[offset:], raw)
		if err := c.row(raw); err != nil {
			return fmt.Errorf("the model at line %d: %w", line(data, offset), err)
		}
		offset += len(raw)
	}
	return nil
}

func (c *Catalogue) row(raw []byte) error {
	var named struct{ Provider, ID string }
	if err := json.Unmarshal(raw, &named); err != nil {
		return err
	}
	if named.Provider == "" || named.ID == "" {
		return errors.New("it needs a provider and an id")
	}
	named.Provider = ourName(named.Provider)
	m, _ := c.Lookup(named.Provider, named.ID)
	if m.ID != named.ID {
		m = Model{Name: named.ID} // a version of its own, not the row of which it is an alias
	}
	separate(reflect.ValueOf(&m).Elem())
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.DisallowUnknownFields()
	tiers := m.Tiers
	m.Tiers = nil // otherwise new tiers would inherit from the old ones
	if err := dec.Decode(&m); err != nil {
		return err
	}
	if m.Tiers == nil {
		m.Tiers = tiers
	}
	m.Provider = named.Provider
	c.Register(m)
	return nil
}

// separate replaces what a row shares with other rows by copies, because decoding
// writes to what is there.
func separate(v reflect.Value) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			separate(v.Field(i))
		}
	case reflect.Pointer:
		if !v.IsNil() {
			own := reflect.New(v.Type().Elem())
			own.Elem().Set(v.Elem())
			separate(own.Elem())
			v.Set(own)
		}
	case reflect.Slice:
		if v.IsNil() {
			return
		}
		own := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
		reflect.Copy(own, v)
		for i := range own.Len() {
			separate(own.Index(i))
		}
		v.Set(own)
	}
}

// line returns the number of the line that contains an offset.
func line(data []byte, offset int) int {
	return 1 + bytes.Count(data[:min(offset, len(data))], []byte("\n"))
}
