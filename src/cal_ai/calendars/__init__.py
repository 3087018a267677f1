"""Calendars: iCalendar files, CalDAV servers and Google Calendar."""
