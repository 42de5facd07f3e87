package sessionlist

import (
	"fmt"
	"time"
)

// DayOf reads a day as a filter of the list has it: when it begins here, as Unix time in
// milliseconds. Empty is 0.
func DayOf(text string) (int64, error) {
	if text == "" {
		return 0, nil
	}
	day, err := time.ParseInLocation(time.DateOnly, text, time.Local)
	if err != nil {
		return 0, fmt.Errorf("%q is not a day such as 2026-11-23", text)
	}
	return day.UnixMilli(), nil
}
