-- Reads a token bucket, and takes tokens if it has enough, or gives it some.
-- KEYS: the bucket. ARGV: capacity, refill per second, "take", "peek" or "give", the time in microseconds since 1970,
-- or "" for the server's clock, and how many tokens to take or give. Returns whether they were taken, and the tokens
-- before that, as text, because a number would be truncated to an integer.
-- A bucket is its tokens, the time at which it had them, and its refill rate. A missing or unreadable bucket is full.
local capacity, refill, now = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[4])
if not now then
  local time = redis.call('TIME')
  now = time[1] * 1000000 + time[2]
end
local tokens = capacity
local kept = redis.pcall('GET', KEYS[1]) -- fails if it is not a string
local was = type(kept) == 'string' and {string.match(kept, '^(%S+) (%S+) (%S+) (%S+)$')}
for i = 1, 4 do was = was and tonumber(was[i]) and was end
if was then
  local at = tonumber(was[2])
  now = math.max(now, at) -- setting the clock back adds no tokens
  tokens = math.min(tonumber(was[3]), tonumber(was[1]) + (now - at) / 1000000 * tonumber(was[4]))
  tokens = math.min(capacity, tokens)
end
local given, n = ARGV[3] == 'give', tonumber(ARGV[5])
if given then
  tokens = math.min(capacity, tokens + n)
end
-- A token that is less than a nanosecond away counts as present, as in the computation of the wait.
local taken = ARGV[3] == 'take' and (n - tokens) / refill < 1e-9
if taken or given or was and (tonumber(was[3]) ~= capacity or tonumber(was[4]) ~= refill) then
  local left = taken and math.max(0, tokens - n) or tokens
  -- It expires a minute after it is full, in thirty years at the latest.
  local full = math.min((capacity - left) / refill + 60, 1e9)
  redis.call('SET', KEYS[1], string.format('%.17g %.17g %.17g %.17g', left, now, capacity, refill),
    'PX', string.format('%.0f', math.ceil(full * 1000)))
end
return {taken and 1 or 0, string.format('%.17g', tokens)}
