package hook

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// value is a JSON value and the line of the file on which it begins.
type value struct {
	raw  json.RawMessage
	line int
}

// member is a member of an object, in the order of the file. A name may occur
// twice.
type member struct {
	name string
	value
}

// kind returns the first byte of the value, which says what it is.
func (v value) kind() byte {
	if len(v.raw) == 0 {
		return 0
	}
	return v.raw[0]
}

// members returns the members of an object; ok is false if it is not one.
func (v value) members() (all []member, ok bool) {
	if v.kind() != '{' {
		return nil, false
	}
	err := v.each(func(d *json.Decoder) error {
		token, err := d.Token()
		if err != nil {
			return err
		}
		inner, err := v.next(d)
		all = append(all, member{fmt.Sprint(token), inner})
		return err
	})
	return all, err == nil
}

// items returns the items of a list; ok is false if it is not one.
func (v value) items() (all []value, ok bool) {
	if v.kind() != '[' {
		return nil, false
	}
	err := v.each(func(d *json.Decoder) error {
		inner, err := v.next(d)
		all = append(all, inner)
		return err
	})
	return all, err == nil
}

// each calls read for each part of an object or a list.
func (v value) each(read func(*json.Decoder) error) error {
	d := json.NewDecoder(bytes.NewReader(v.raw))
	if _, err := d.Token(); err != nil {
		return err
	}
	for d.More() {
		if err := read(d); err != nil {
			return err
		}
	}
	_, err := d.Token()
	return err
}

// next reads the decoder's next value, which is a part of v.
func (v value) next(d *json.Decoder) (value, error) {
	var raw json.RawMessage
	if err := d.Decode(&raw); err != nil {
		return value{}, err
	}
	start := int(d.InputOffset()) - len(raw)
	return value{raw, v.line + bytes.Count(v.raw[:start], []byte("\n"))}, nil
}

// text returns the value as it stands, for people.
func (v value) text() string {
	var s string
	if json.Unmarshal(v.raw, &s) == nil {
		return s
	}
	var flat bytes.Buffer
	if json.Compact(&flat, v.raw) != nil {
		return string(v.raw)
	}
	return flat.String()
}
