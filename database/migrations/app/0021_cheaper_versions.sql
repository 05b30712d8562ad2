-- Typing at the end of a log, or within one line of it, is what nearly every save does. Both are recognised before any
-- query runs. Without a search path of its own: setting one costs more than the rest, and this calls built-in functions only.
create or replace function public.drops_most_items(before text, after text) returns boolean
  language plpgsql immutable strict parallel safe
as $$
declare
  items text[];
  later text[];
  lost text[];
  total integer;
  half integer;
begin
  if starts_with(after, before) then
    return false;
  end if;
  items := string_to_array(before, E'\n');
  later := string_to_array(after, E'\n');
  total := cardinality(items);
  half := (total + 1) / 2;
  if later[:half] = items[:half] or later[cardinality(later) - half + 1:] = items[total - half + 1:] then
    return false;
  end if;
  if cardinality(later) * 2 < total then
    return true;
  end if;
  lost := array(select unnest(items) except all select unnest(later));
  if cardinality(lost) * 2 <= total or cardinality(lost) > 50 then
    return cardinality(lost) * 2 > total;
  end if;
  return (
    with gained as (
      select item from (select unnest(later) except all select unnest(items)) as added (item) limit 100)
    select count(*) * 2 > total
      from (select item, (char_length(item) + 1) / 2 as half_length from unnest(lost) as item) as old
     where not exists (
       select from gained as new
        where starts_with(new.item, left(old.item, old.half_length))
           or right(new.item, old.half_length) = right(old.item, old.half_length)));
end
$$;
