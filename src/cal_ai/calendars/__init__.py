"""Places that keep events: iCalendar files, CalDAV servers, Google Calendar."""
