package storage

import (
	"encoding/binary"
	"math"
)

// The kinds of pages that have rows.
const (
	pageTableLeaf  = 13
	pageIndexLeaf  = 10
	pageIndexInner = 2
)

// maxPayload is more than any row has: the data of larger events is in files.
const maxPayload = 64 << 20

// cells calls do with each row of a page.
func (p *pages) cells(page []byte, start int, do func(row) error) error {
	kind, pointers := page[start], start+8
	switch kind {
	case pageTableLeaf, pageIndexLeaf:
	case pageIndexInner:
		pointers = start + 12
	default:
		return nil
	}
	for i := range int(binary.BigEndian.Uint16(page[start+3:])) {
		if pointers+2*i+2 > p.usable {
			return nil
		}
		at := int(binary.BigEndian.Uint16(page[pointers+2*i:]))
		if kind == pageIndexInner {
			at += 4 // the number of a page
		}
		id, payload, ok := p.payload(page, at, kind == pageTableLeaf)
		if !ok {
			continue
		}
		if values, ok := record(payload); ok {
			if err := do(row{table: kind == pageTableLeaf, id: id, values: values}); err != nil {
				return err
			}
		}
	}
	return nil
}

// payload returns the bytes of a row, of which a long one continues on other pages.
func (p *pages) payload(page []byte, at int, hasID bool) (id int64, payload []byte, ok bool) {
	size, at, ok := varint(page, at, p.usable)
	if ok && hasID {
		id, at, ok = varint(page, at, p.usable)
	}
	if !ok || size < 0 || size > maxPayload {
		return 0, nil, false
	}
	least, most := (p.usable-12)*32/255-23, p.usable-35
	if !hasID {
		most = (p.usable-12)*64/255 - 23
	}
	here := int(size)
	if here > most {
		if here = least + (int(size)-least)%(p.usable-4); here > most {
			here = least
		}
	}
	if at+here > p.usable {
		return 0, nil, false
	}
	payload = append(make([]byte, 0, size), page[at:at+here]...)
	if int(size) == here {
		return id, payload, true
	}
	if at+here+4 > p.usable {
		return 0, nil, false
	}
	next := int64(binary.BigEndian.Uint32(page[at+here:]))
	for len(payload) < int(size) { // each page adds something
		more, err := p.page(next)
		if err != nil || next == 0 {
			return 0, nil, false
		}
		payload = append(payload, more[4:min(p.usable, 4+int(size)-len(payload))]...)
		next = int64(binary.BigEndian.Uint32(more))
	}
	return id, payload, true
}

// record decodes the values of a row.
func record(payload []byte) (values []any, ok bool) {
	header, at, ok := varint(payload, 0, len(payload))
	if !ok || header < int64(at) || header > int64(len(payload)) {
		return nil, false
	}
	body := payload[header:]
	for at < int(header) {
		var kind int64
		if kind, at, ok = varint(payload, at, int(header)); !ok {
			return nil, false
		}
		value, size, ok := column(kind, body)
		if !ok {
			return nil, false
		}
		values, body = append(values, value), body[size:]
	}
	return values, len(body) == 0
}

// column decodes a value as database/sql returns it: texts as strings.
func column(kind int64, body []byte) (value any, size int, ok bool) {
	switch kind {
	case 0:
		return nil, 0, true
	case 8, 9:
		return kind - 8, 0, true
	case 10, 11:
		return nil, 0, false
	}
	if kind >= 12 {
		if size = int((kind - 12) / 2); kind < 0 || size > len(body) {
			return nil, 0, false
		}
		if kind%2 == 1 {
			return string(body[:size]), size, true
		}
		return body[:size:size], size, true
	}
	if kind < 0 {
		return nil, 0, false
	}
	size = []int{0, 1, 2, 3, 4, 6, 8, 8}[kind]
	if size > len(body) {
		return nil, 0, false
	}
	number := int64(int8(body[0]))
	for _, b := range body[1:size] {
		number = number<<8 | int64(b)
	}
	if kind == 7 {
		return math.Float64frombits(uint64(number)), size, true
	}
	return number, size, true
}

// varint reads a number of one to nine bytes that ends before a limit.
func varint(b []byte, at, limit int) (n int64, next int, ok bool) {
	for i := range 9 {
		if at+i >= limit || at < 0 {
			return 0, 0, false
		}
		c := b[at+i]
		if i == 8 {
			return n<<8 | int64(c), at + 9, true
		}
		n = n<<7 | int64(c&0x7f)
		if c < 0x80 {
			return n, at + i + 1, true
		}
	}
	return 0, 0, false
}
