package redact

import "encoding/binary"

// literals finds many values in one pass over a text.
type literals struct {
	// kinds has the kind of each value. Those of at least eight bytes are in long, by
	// their first eight; seen has a bit for each of them, so that most places of a text
	// are passed at once.
	kinds map[string]SecretKind
	long  map[uint64][]string
	seen  [1 << 16]bool
	short []string
}

func newLiterals() *literals {
	return &literals{kinds: map[string]SecretKind{}, long: map[uint64][]string{}}
}

// add adds a value, unless it is known.
func (l *literals) add(value string, kind SecretKind) {
	if value == "" || l.kinds[value] != "" {
		return
	}
	l.kinds[value] = kind
	if len(value) < 8 {
		l.short = append(l.short, value)
		return
	}
	first := binary.LittleEndian.Uint64([]byte(value[:8]))
	l.long[first] = append(l.long[first], value)
	l.seen[slot(first)] = true
}

// slot spreads eight bytes over the bits of seen.
func slot(first uint64) uint64 { return first * 0x9E3779B97F4A7C15 >> 48 }

// find adds the places of all values.
func (l *literals) find(all []match, text string) []match {
	for _, value := range l.short {
		all = literally(all, text, value, l.kinds[value])
	}
	if len(l.long) == 0 || len(text) < 8 {
		return all
	}
	bytes := []byte(text)
	for i := 0; i+8 <= len(bytes); i++ {
		first := binary.LittleEndian.Uint64(bytes[i:])
		if !l.seen[slot(first)] {
			continue
		}
		longest := ""
		for _, value := range l.long[first] {
			if len(value) > len(longest) && len(value) <= len(text)-i && text[i:i+len(value)] == value {
				longest = value
			}
		}
		if longest != "" {
			all = append(all, match{i, i + len(longest), l.kinds[longest]})
			i += len(longest) - 1
		}
	}
	return all
}
